// The builders' thread as JavaScript for one test: a thread cannot start from TypeScript. Compiled on first use into
// node_modules/.cache under a hash of its sources, so that a test never meets an old build.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { root } from './source-tree.ts';

/** Folders whose sources end up in the worker. */
const folders = ['pipeline', 'platform', 'proto/wire'];
/** What the worker reads beside its sources. */
const modules = ['proto/wire/scanner/scanner.wasm', 'proto/wire/lz4/lz4.wasm'];

/** Path of the compiled pipeline/build/worker.ts, as new as its sources. */
export function compiledWorker(): string {
  const cache = join(root, 'node_modules', '.cache', 'millrace');
  const built = join(cache, `worker-${hashOfSources()}`);
  const entry = join(built, 'pipeline', 'build', 'worker.js');
  if (existsSync(entry)) return entry;
  mkdirSync(cache, { recursive: true });
  const next = mkdtempSync(join(cache, 'building-'));
  writeFileSync(join(next, 'package.json'), JSON.stringify({ type: 'module' }));
  const configuration = join(next, 'tsconfig.json');
  const compilerOptions = { noEmit: false, outDir: next, rootDir: root };
  writeFileSync(
    configuration,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      include: [join(root, 'pipeline', 'build', 'worker.ts')],
      exclude: [],
    }),
  );
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', configuration], { stdio: ['ignore', 2, 2] });
  for (const module of modules) copyFileSync(join(root, module), join(next, module));
  try {
    renameSync(next, built);
  } catch {
    // Another test process was first; its build is the same.
    rmSync(next, { recursive: true, force: true });
  }
  return entry;
}

function hashOfSources(): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'tsconfig.json')));
  for (const folder of folders) {
    for (const name of readdirSync(join(root, folder), {
      encoding: 'utf8',
      recursive: true,
    }).sort()) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
      hash.update(name).update(readFileSync(join(root, folder, name)));
    }
  }
  for (const module of modules) hash.update(readFileSync(join(root, module)));
  return hash.digest('hex').slice(0, 16);
}
