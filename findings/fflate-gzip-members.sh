#!/usr/bin/env bash
# Two gzip files, one written behind the other (`cat day1.gz day2.gz`, `gzip >>`, uploads in parts), read by fflate 0.8.3.
# Guess: they are one valid gzip file (RFC 1952, 2.2) and give both texts, as zlib, pako and DecompressionStream do.
# Seen: gunzipSync() and decompressSync() give the first one and say nothing of the rest; Gunzip, the stream of the same
# package, gives both.
# So an import of an export in parts has the first part alone, and a count of its rows looks like a short day.
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
const both = Buffer.concat([gzipSync('monday\n'), gzipSync('tuesday\n')]);
let streamed = '';
const stream = new Gunzip((chunk) => {
  streamed += strFromU8(chunk);
});
stream.push(both, true);
const web = new Blob([both]).stream().pipeThrough(new DecompressionStream('gzip'));
const seen = {
  'zlib of Node': nodeGunzip(both).toString(),
  'DecompressionStream of Node': await new Response(web).text(),
  pako: strFromU8(ungzip(both)),
  'fflate Gunzip': streamed,
  'fflate gunzipSync': strFromU8(gunzipSync(both)),
  'fflate decompressSync': strFromU8(decompressSync(both)),
};
console.log('fflate 0.8.3, pako 3.0.3:', seen);
for (const [reader, text] of Object.entries(seen)) {
  assert.strictEqual(text, reader.endsWith('Sync') ? 'monday\n' : 'monday\ntuesday\n', reader);
}
NODE
timeout 30 node run.mjs
