#!/usr/bin/env bash
# Lines that Node's readline, and the file handle's readLines(), make of a file of JSON lines.
# Guess: a line ends at \n, \r or \r\n, as the documentation of the event 'line' says. JSON.stringify() writes these
# three as escapes within a text, so one row is one line.
# Seen: so it is in Node 22.23.3. Node 24.21.0 ends a line at U+2028 and U+2029 too, which JSON.stringify() leaves as
# they are: a row with such a character in a text, as people paste it from documents, is two lines, and neither is JSON.
# So a reader of JSON lines looks for the byte 10 itself, or the writer escapes both characters.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { open, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
const count = async (lines) => {
  const texts = [];
  for await (const line of lines) texts.push(line);
  return texts.length;
};
const seen = {};
for (const name of ['000a', '000d', '0085', '2028', '2029']) {
  const row = `${JSON.stringify({ page: `a${String.fromCharCode(Number.parseInt(name, 16))}b` })}\n`;
  await writeFile('rows.jsonl', row);
  const fromStream = await count(createInterface({ input: Readable.from([Buffer.from(row)]) }));
  seen[`U+${name}`] = [fromStream, await count((await open('rows.jsonl')).readLines())];
}
const atSeparators = process.version === 'v22.23.3' ? [1, 1] : [2, 2];
console.log(`Node ${process.version}, lines of one row, by readline and readLines():`, seen);
assert.deepStrictEqual(seen, {
  'U+000a': [1, 1],
  'U+000d': [1, 1],
  'U+0085': [1, 1],
  'U+2028': atSeparators,
  'U+2029': atSeparators,
});
NODE
for version in 22.23.3 24.21.0; do
  mkdir "$version"
  timeout 240 npm install --silent --no-audit --no-fund --prefix "$version" "node@$version" >/dev/null
  timeout 30 "$version/node_modules/.bin/node" run.mjs
done
