#!/usr/bin/env bash
# Types that avsc 5.7.9 infers from JavaScript's values with Type.forValue(), as for a file of events without a schema.
# Guess: a number with a fraction is Avro's double, which is what JavaScript has; whole numbers are int or long by their size.
# Seen: it is float, of 32 bits: 1234567.89 is read back as 1234567.875. A whole number above 2^31 is float too, not long: a
# time in milliseconds is 43 seconds off, and an id of twelve digits is another one.
# So revenue, times and ids of such a file are wrong without an error: pass `typeHook`, or write the schema down.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund avsc@5.7.9 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import avro from 'avsc';
const seen = {};
for (const number of [5, 2_147_483_647, 4_294_967_296, 1_767_225_600_123, 123_456_789_012, 0.1, 1_234_567.89]) {
  const type = avro.Type.forValue(number);
  seen[number] = `${type.typeName} ${type.fromBuffer(type.toBuffer(number))}`;
}
console.log('avsc 5.7.9:', seen);
assert.deepStrictEqual(seen, {
  5: 'int 5',
  2147483647: 'int 2147483647',
  4294967296: 'float 4294967296',
  1767225600123: 'float 1767225556992',
  123456789012: 'float 123456790528',
  0.1: 'float 0.10000000149011612',
  1234567.89: 'float 1234567.875',
});
NODE
timeout 30 node run.mjs
