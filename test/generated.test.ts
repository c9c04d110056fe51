// The committed code and descriptor set equal the output of the generator for the definitions of today.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { root } from './harness/source-tree.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-generated-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const buf = (...args: string[]): void => {
  const binaries = join(root, 'node_modules', '.bin');
  execFileSync(join(binaries, 'buf'), args, {
    cwd: root,
    env: { ...process.env, PATH: `${binaries}:${process.env['PATH']}` },
  });
};

function contents(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  return new Map(names.map((name) => [name.slice(folder.length), readFileSync(name, 'utf8')]));
}

it('generated code is fresh: run npm run generate', () => {
  buf('generate', '-o', directory);
  const fresh = contents(join(directory, 'proto', 'gen'));
  expect(fresh.size).toBeGreaterThan(5);
  expect(contents(join(root, 'proto', 'gen'))).toEqual(fresh);
});

it('the descriptor set is fresh: run npm run generate', () => {
  const path = join(directory, 'descriptors.binpb');
  buf('build', '-o', path);
  expect(readFileSync(join(root, 'proto', 'descriptors.binpb')).equals(readFileSync(path))).toBe(
    true,
  );
});
