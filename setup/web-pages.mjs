// Builds web/ with Vite into the folder that is the argument, and packs each file, for the service to serve as it lies.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { build } from 'vite';

const configFile = fileURLToPath(new URL('../web/vite.config.ts', import.meta.url));
const [, , outDir = ''] = process.argv;
await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });

/** What else there is, such as images, is packed already. */
const packable = new Set(['.html', '.js', '.css', '.json', '.svg']);
for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
  if (!packable.has(extname(name))) continue;
  const path = join(outDir, name);
  const plain = readFileSync(path);
  const params = { [zlib.BROTLI_PARAM_SIZE_HINT]: plain.length };
  const forms = {
    '.gz': gzipSync(plain, { level: 9 }),
    '.br': brotliCompressSync(plain, { params }),
  };
  for (const [ending, packed] of Object.entries(forms)) {
    if (packed.length < plain.length) writeFileSync(path + ending, packed);
  }
}
