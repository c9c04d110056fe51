#!/usr/bin/env bash
# Files with letters outside ASCII, read through the streams of PapaParse 5.7.1 (in both of its ways) and jsonlines
# 0.1.1; beside them csv-parser 3.2.1 and ndjson 2.0.0.
# Guess: a letter whose bytes are in two chunks of the stream is put together, as the StringDecoder of Node does.
# Seen: PapaParse and jsonlines turn each chunk into text by itself: createReadStream() cuts every 65,536 bytes, and a
# letter on the cut becomes replacement characters within its value, without an error, with PapaParse's `encoding:
# 'utf8'` too. A stream that gives text, by setEncoding('utf8'), is read right; csv-parser and ndjson read all right.
# So an import has some names and cities twice, once with broken letters: set the encoding on the stream.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund \
  papaparse@5.7.1 csv-parser@3.2.1 jsonlines@0.1.1 ndjson@2.0.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createReadStream, writeFileSync } from 'node:fs';
import csvParser from 'csv-parser';
import jsonlines from 'jsonlines';
import ndjson from 'ndjson';
import Papa from 'papaparse';
const city = '\u6771\u4eac\u90fd\u5343\u4ee3\u7530\u533a';
const rows = 30_000;
writeFileSync('rows.csv', `id,city\n${`1,${city}\n`.repeat(rows)}`);
writeFileSync('rows.jsonl', `${JSON.stringify({ city })}\n`.repeat(rows));
const piped = (file, parser, encoding) =>
  new Promise((resolve, reject) => {
    const cities = [];
    parser.on('data', (row) => cities.push(row.city));
    parser.on('end', () => resolve(cities)).on('error', reject);
    createReadStream(file, { encoding }).pipe(parser);
  });
const papaStream = () => Papa.parse(Papa.NODE_STREAM_INPUT, { header: true });
const papa = () =>
  new Promise((resolve) => {
    const cities = [];
    Papa.parse(createReadStream('rows.csv'), {
      header: true,
      encoding: 'utf8',
      skipEmptyLines: true,
      step: ({ data }) => cities.push(data.city),
      complete: () => resolve(cities),
    });
  });
const seen = {};
for (const [name, cities] of Object.entries({
  PapaParse: await papa(),
  'PapaParse in a pipe': await piped('rows.csv', papaStream()),
  jsonlines: await piped('rows.jsonl', jsonlines.parse()),
  'PapaParse in a pipe, given text': await piped('rows.csv', papaStream(), 'utf8'),
  'jsonlines, given text': await piped('rows.jsonl', jsonlines.parse(), 'utf8'),
  'csv-parser': await piped('rows.csv', csvParser()),
  ndjson: await piped('rows.jsonl', ndjson.parse()),
})) {
  assert.strictEqual(cities.length, rows);
  const wrong = cities.filter((text) => text !== city);
  assert.ok(wrong.every((text) => text.includes('\ufffd')));
  seen[name] = wrong.length;
}
console.log(`Of ${rows} rows, those whose city is another:`, seen);
const [ofPapa, ofPipe, ofJsonlines, ...others] = Object.values(seen);
for (const wrong of [ofPapa, ofPipe, ofJsonlines]) assert.ok(wrong > 0 && wrong < 20);
assert.deepStrictEqual(others, [0, 0, 0, 0]);
NODE
timeout 30 node run.mjs
