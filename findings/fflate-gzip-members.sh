#!/usr/bin/env bash
# Two gzip files, one written behind the other (`cat day1.gz day2.gz`, `gzip >>`, uploads in parts), read by fflate
# 0.8.3.
# Guess: they are one valid gzip file (RFC 1952, 2.2) and give both texts, as zlib, pako and DecompressionStream do.
# Seen: gunzipSync() and decompressSync() give the first one, cut to the length of the last, and raise no error: monday
# before tuesday is monday, tuesday before mon is "tues". Gunzip, the stream of the same package, gives both.
# So an import of an export in parts has the first part alone, or a piece of it, and a count of its rows looks like a
# short day.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund fflate@0.8.3 pako@3.0.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { gunzipSync as nodeGunzip, gzipSync } from 'node:zlib';
import { decompressSync, Gunzip, gunzipSync, strFromU8 } from 'fflate';
import { ungzip } from 'pako';
const streamed = (both) => {
  let text = '';
  const stream = new Gunzip((chunk) => {
    text += strFromU8(chunk);
  });
  stream.push(both, true);
  return text;
};
const seen = {};
for (const texts of [
  ['monday\n', 'tuesday\n'],
  ['tuesday\n', 'mon\n'],
]) {
  const both = Buffer.concat(texts.map((text) => gzipSync(text)));
  const web = new Blob([both]).stream().pipeThrough(new DecompressionStream('gzip'));
  const readers = {
    'zlib of Node': () => nodeGunzip(both).toString(),
    'DecompressionStream of Node': () => new Response(web).text(),
    pako: () => strFromU8(ungzip(both)),
    'fflate Gunzip': () => streamed(both),
    'fflate gunzipSync': () => strFromU8(gunzipSync(both)),
    'fflate decompressSync': () => strFromU8(decompressSync(both)),
  };
  for (const [reader, read] of Object.entries(readers)) {
    try {
      (seen[reader] ??= []).push(await read());
    } catch (error) {
      seen[reader].push(`${error.name}: ${error.message}`);
    }
  }
}
console.log('fflate 0.8.3, pako 3.0.3:', seen);
for (const [reader, texts] of Object.entries(seen)) {
  const expected = reader.endsWith('Sync') ? ['monday\n', 'tues'] : ['monday\ntuesday\n', 'tuesday\nmon\n'];
  assert.deepStrictEqual(texts, expected, reader);
}
NODE
timeout 30 node run.mjs
