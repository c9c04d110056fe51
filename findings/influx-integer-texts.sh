#!/usr/bin/env bash
# Integers of 64 bits in Point.intField() of @influxdata/influxdb-client 1.35.0, beside uintField() and floatField().
# Guess: a BigInt or a text is written digit by digit, which is what a text is taken for, and what is no integer is an
# error; uintField() does both.
# Seen: intField() goes through a double: 9007199254740993n and its text lose the last digit, and a time in nanoseconds
# its last three. A text is read up to its first letter: "12 MB" is 12, "1e3" is 1, and for floatField() "1,5" is 1.
# So ids and nanoseconds change without a word: take uintField(), which writes the digits, or stringField().
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @influxdata/influxdb-client@1.35.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { Point } from '@influxdata/influxdb-client';
const written = (method, value) => {
  try {
    return new Point('events')[method]('value', value).toLineProtocol().split(' ')[1].replace('value=', '');
  } catch (error) {
    return error.name;
  }
};
const values = {
  'a BigInt': 9007199254740993n,
  'a text': '9007199254740993',
  'a time in nanoseconds': '1767261600123456789',
  'with a unit': '12 MB',
  'with an exponent': '1e3',
  'with a comma': '1,5',
};
const seen = {};
for (const [name, value] of Object.entries(values)) {
  seen[name] = ['intField', 'uintField', 'floatField'].map((method) => written(method, value)).join(' ');
}
console.log('@influxdata/influxdb-client 1.35.0, intField, uintField, floatField:', values, seen);
assert.deepStrictEqual(seen, {
  'a BigInt': '9007199254740992i 9007199254740993u 9007199254740992',
  'a text': '9007199254740992i 9007199254740993u 9007199254740992',
  'a time in nanoseconds': '1767261600123456800i 1767261600123456789u 1767261600123456800',
  'with a unit': '12i Error 12',
  'with an exponent': '1i Error 1000',
  'with a comma': '1i Error 1',
});
NODE
timeout 30 node run.mjs
