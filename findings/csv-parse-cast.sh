#!/usr/bin/env bash
# Ids of an export that csv-parse 7.0.3 reads with `cast`.
# Guess: what is a number as a whole becomes one, and all else, an id with a 0x before it too, stays text.
# Seen: a hexadecimal id is taken for a number and is then read up to its x: 0x1f and the address of a wallet are 0. A
# phone number loses its plus, an id of 19 digits its last ones, and the id 123e4 is 1230000.
# So all users with hexadecimal ids are one user, 0: name the columns that are to be cast.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund csv-parse@7.0.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { parse } from 'csv-parse/sync';
const wallet = '0x8ba1f109551bd432803012645ac136ddd64dba72';
const seen = {};
for (const text of ['0x1f', wallet, '+491701234567', '1234567890123456789', '123e4', 'v12']) {
  [[seen[text]]] = parse(text, { cast: true });
}
console.log('csv-parse 7.0.3:', seen);
assert.deepStrictEqual(seen, {
  '0x1f': 0,
  [wallet]: 0,
  '+491701234567': 491701234567,
  '1234567890123456789': 1234567890123456800,
  '123e4': 1230000,
  v12: 'v12',
});
NODE
timeout 30 node run.mjs
