#!/usr/bin/env bash
# Fractions of 15 digits and more, as places and shares have them, read by json-bigint 1.0.0.
# Guess: `useNativeBigInt` is about whole numbers above 2^53, and `storeAsString` too: what has a point stays a number.
# Seen: whatever is written with more than 15 characters is taken for a large integer. With useNativeBigInt the answer
# that holds one such latitude cannot be read: SyntaxError. With storeAsString the latitude is a text, its neighbour,
# which happens to be shorter, a number; and by default it is an object, which typeof does not know for a number.
# So the usual way to read 64-bit ids of ClickHouse fails as soon as a row has a share like 0.3333333333333333: quote
# the integers on the server, or read with a reviver that looks at the text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund json-bigint@1.0.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import JSONBig from 'json-bigint';
const kindOf = (value) => (typeof value === 'object' ? value.constructor.name : typeof value);
// The second has 15 characters, the third has 16.
const numbers = ['9007199254740993', '52.520006599999', '52.5200065999999', '52.520006599999988', '0.3333333333333333'];
const seen = {};
for (const option of ['useNativeBigInt', 'storeAsString', 'default']) {
  const reader = JSONBig(option === 'default' ? {} : { [option]: true });
  for (const number of numbers) {
    try {
      seen[`${option} ${number}`] = kindOf(reader.parse(`{"value":${number}}`).value);
    } catch (error) {
      seen[`${option} ${number}`] = error.name;
    }
  }
}
console.log('json-bigint 1.0.0:', seen);
assert.deepStrictEqual(seen, {
  'useNativeBigInt 9007199254740993': 'bigint',
  'useNativeBigInt 52.520006599999': 'number',
  'useNativeBigInt 52.5200065999999': 'SyntaxError',
  'useNativeBigInt 52.520006599999988': 'SyntaxError',
  'useNativeBigInt 0.3333333333333333': 'SyntaxError',
  'storeAsString 9007199254740993': 'string',
  'storeAsString 52.520006599999': 'number',
  'storeAsString 52.5200065999999': 'string',
  'storeAsString 52.520006599999988': 'string',
  'storeAsString 0.3333333333333333': 'string',
  'default 9007199254740993': 'BigNumber',
  'default 52.520006599999': 'number',
  'default 52.5200065999999': 'BigNumber',
  'default 52.520006599999988': 'BigNumber',
  'default 0.3333333333333333': 'BigNumber',
});
NODE
timeout 30 node run.mjs
