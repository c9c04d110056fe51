// Bundles sdk/browser/ into one classic script and packs it, for the service to serve as it lies. The argument is the
// folder that gets the files.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';
import { rolldown } from 'rolldown';

const input = fileURLToPath(new URL('../sdk/browser/snippet.ts', import.meta.url));
const [, , folder = ''] = process.argv;
const bundle = await rolldown({ input, platform: 'browser' });
const { output } = await bundle.generate({ format: 'iife', minify: true });
await bundle.close();
// The minifier leaves marks for other minifiers.
const script = Buffer.from(output[0].code.replaceAll('/* @__PURE__ */ ', ''));
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'millrace.js'), script);
writeFileSync(join(folder, 'millrace.js.gz'), gzipSync(script, { level: 9 }));
const params = { [zlib.BROTLI_PARAM_SIZE_HINT]: script.length };
writeFileSync(join(folder, 'millrace.js.br'), brotliCompressSync(script, { params }));
