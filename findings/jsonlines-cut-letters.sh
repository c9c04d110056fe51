#!/usr/bin/env bash
# A file of JSON lines with letters outside ASCII, read through the stream of jsonlines 0.1.1; beside it ndjson 2.0.0.
# Guess: a letter whose bytes are in two chunks of the stream is put together, as the StringDecoder of Node does.
# Seen: jsonlines turns each chunk into text by itself: createReadStream() cuts every 65,536 bytes, and a letter on the
# cut becomes replacement characters within its value. The row stays valid JSON, so that no error tells. ndjson reads
# all rows right.
# So a name or address in some rows of a large file is another one: give such a reader text, by setEncoding('utf8').
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund jsonlines@0.1.1 ndjson@2.0.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createReadStream, writeFileSync } from 'node:fs';
import jsonlines from 'jsonlines';
import ndjson from 'ndjson';
const city = '\u6771\u4eac\u90fd\u5343\u4ee3\u7530\u533a';
writeFileSync('rows.jsonl', `${JSON.stringify({ city })}\n`.repeat(20_000));
const count = (parser, encoding) =>
  new Promise((resolve, reject) => {
    const counts = { rows: 0, wrong: 0 };
    parser.on('data', (row) => {
      counts.rows++;
      if (row.city !== city) counts.wrong++;
    });
    parser.on('end', () => resolve(counts)).on('error', reject);
    createReadStream('rows.jsonl', { encoding }).pipe(parser);
  });
const seen = {
  jsonlines: await count(jsonlines.parse()),
  'jsonlines, given text': await count(jsonlines.parse(), 'utf8'),
  ndjson: await count(ndjson.parse()),
};
console.log('Rows read, and those whose city is another:', seen);
assert.deepStrictEqual(seen['jsonlines, given text'], { rows: 20_000, wrong: 0 });
assert.deepStrictEqual(seen.ndjson, { rows: 20_000, wrong: 0 });
assert.strictEqual(seen.jsonlines.rows, 20_000);
assert.ok(seen.jsonlines.wrong > 0 && seen.jsonlines.wrong < 20);
NODE
timeout 30 node run.mjs
