// Entries of the product as JavaScript for one test: neither a thread nor a child process can start from TypeScript.
// Compiled on first use into node_modules/.cache under a hash of the sources, so that a test never meets an old build
// and needs none of the rest of the product to compile.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { keepFirst, madeOnce, newDirectory } from './made-once.ts';
import { root } from './source-tree.ts';

interface Entry {
  name: string;
  /** Without its ending, relative to the root. */
  path: string;
  /** Folders whose sources end up in the build. */
  folders: readonly string[];
  /** Other files that the entry reads beside its sources. */
  assets: readonly string[];
}

/** Path of the compiled thread of the builders, as new as its sources. */
export function compiledWorker(): string {
  return compiled({
    name: 'worker',
    path: 'pipeline/build/worker',
    folders: ['pipeline', 'platform', 'proto/wire'],
    assets: [
      ...['proto/wire/scanner/scanner.wasm', 'proto/wire/lz4/lz4.wasm'],
      // Of webhooks' filters; generated code is no TypeScript.
      'proto/gen/common/v1/filter_pb.js',
    ],
  });
}

/** Path of the compiled process of the engine, as new as its sources. */
export function compiledEngine(): string {
  return compiled({
    name: 'engine',
    path: 'sql/engine/main',
    folders: ['sql/engine', 'platform/memory', 'platform/secrets'],
    assets: ['sql/engine/users.xml'],
  });
}

function compiled(entry: Entry): string {
  const built = join(madeOnce, `${entry.name}-${hashOfSources(entry)}`);
  const script = join(built, `${entry.path}.js`);
  if (existsSync(script)) return script;
  const next = newDirectory();
  build(entry, next);
  keepFirst(next, built);
  return script;
}

function build({ path, assets }: Entry, outDir: string): void {
  writeFileSync(join(outDir, 'package.json'), JSON.stringify({ type: 'module' }));
  const configuration = join(outDir, 'tsconfig.json');
  const compilerOptions = { noEmit: false, outDir, rootDir: root, sourceMap: true };
  writeFileSync(
    configuration,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      include: [join(root, `${path}.ts`)],
      exclude: [],
    }),
  );
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', configuration], { stdio: ['ignore', 2, 2] });
  for (const asset of assets) {
    const copy = join(outDir, asset);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(join(root, asset), copy);
  }
}

function hashOfSources({ folders, assets }: Entry): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'tsconfig.json')));
  for (const folder of folders) {
    const names = readdirSync(join(root, folder), { encoding: 'utf8', recursive: true });
    for (const name of names.sort()) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
      hash.update(name).update(readFileSync(join(root, folder, name)));
    }
  }
  for (const asset of assets) hash.update(readFileSync(join(root, asset)));
  return hash.digest('hex').slice(0, 16);
}
