#!/usr/bin/env bash
# Whole numbers beyond 2^53 in a stream that jsonparse 1.3.1 reads, as ids of 18 digits have them.
# Guess: what JSON.parse makes of them: the nearest number, for every one.
# Seen: the type depends on the digits. A number whose digits JavaScript would write back the same stays a number, and
# any other is a text: of two ids in one column one is 1234567890123456800, the other "1234567890123456789". A negative
# one, and one with a fraction or an exponent, is always rounded to a number. A sum of them is a joined text.
# So a parse of the whole and a stream differ in types on valid input: treat such fields as texts in both, by name.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund jsonparse@1.3.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import Parser from 'jsonparse';
const json = '[1234567890123456789,1234567890123456800,-1234567890123456789,9007199254740993,9007199254740993.5]';
let read;
const parser = new Parser();
parser.onError = (error) => { throw error; };
parser.onValue = (value) => { read = value; };
parser.write(json);
console.log('jsonparse 1.3.1:', read, 'JSON.parse:', JSON.parse(json));
assert.deepStrictEqual(
  read.map((value) => [typeof value, String(value)]),
  [
    ['string', '1234567890123456789'],
    ['number', '1234567890123456800'],
    ['number', '-1234567890123456800'],
    ['string', '9007199254740993'],
    ['number', '9007199254740994'],
  ],
);
assert.strictEqual(10 + read[3], '109007199254740993');
assert(JSON.parse(json).every((value) => typeof value === 'number'));
NODE
timeout 30 node run.mjs
