// The build of the service with other pages: what a reader's browser meets after an update.

import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../source-tree.ts';

/** A copy of `dist/` in which every script of the pages has another name; that of the page `without` is missing. */
export function copyWithOtherPages(without: string): { dist: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-other-build-'));
  const dist = join(folder, 'dist');
  cpSync(join(root, 'dist'), dist, { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const assets = join(dist, 'web', 'assets');
  for (const name of readdirSync(assets)) if (/\.(?:br|gz)$/.test(name)) rmSync(join(assets, name));
  for (const packed of ['index.html.br', 'index.html.gz'])
    rmSync(join(dist, 'web', packed), { force: true });
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const renamed = (text: string): string =>
    scripts.reduce((all, name) => all.replaceAll(name, `other-${name}`), text);
  for (const path of [
    join(dist, 'web', 'index.html'),
    ...scripts.map((name) => join(assets, name)),
  ])
    writeFileSync(path, renamed(readFileSync(path, 'utf8')));
  for (const name of scripts) renameSync(join(assets, name), join(assets, `other-${name}`));
  const missing = scripts.filter((name) => name.startsWith(`${without}-`));
  if (missing.length !== 1)
    throw new Error(`the build has ${missing.length} scripts of ${without}`);
  for (const name of missing) rmSync(join(assets, `other-${name}`));
  return { dist, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
