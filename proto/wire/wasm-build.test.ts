import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const compiler = join(
  dirname(createRequire(import.meta.url).resolve('assemblyscript/package.json')),
  'bin',
  'asc.js',
);

it.each(['scanner', 'lz4', 'city-hash'])(
  '%s.wasm is what its sources compile to: npm run build:wasm',
  (name) => {
    const out = mkdtempSync(join(tmpdir(), 'millrace-wasm-'));
    const built = join(out, `${name}.wasm`);
    try {
      execFileSync(process.execPath, [compiler, '--config', 'asconfig.json', '--outFile', built], {
        cwd: join(import.meta.dirname, name, 'assembly'),
      });
      const committed = readFileSync(join(import.meta.dirname, name, `${name}.wasm`));
      expect(Buffer.compare(readFileSync(built), committed)).toBe(0);
    } finally {
      rmSync(out, { recursive: true });
    }
  },
);
