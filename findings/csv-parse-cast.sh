#!/usr/bin/env bash
# Values of an export that csv-parse 7.0.3 reads with `cast` and `cast_date`.
# Guess: what is a number as a whole becomes one, what is a date in a usual form becomes a date, and all else stays text.
# Seen: a hexadecimal id is taken for a number and is then read up to its x: 0x1f and every address of a wallet are 0. A
# phone number loses its plus, an id of 19 digits its last ones, and the id 123e4 is 1230000. With cast_date whatever
# Date.parse makes a date of is one, in the machine's time zone: "Order 2026" is the first of January 2026, "page-7" a day
# in July 2001.
# So all users with such ids are one user, 0, and names of events become dates: name the columns that are to be cast.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund csv-parse@7.0.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { parse } from 'csv-parse/sync';
const read = (text, options) => {
  const [[value]] = parse(text, options);
  return value instanceof Date ? value.toISOString() : value;
};
const seen = {};
for (const text of ['0x1f', '0x00000000000000000000000000000000deadbeef', '+491701234567', '9007199254740993', '123e4', 'v12']) {
  seen[text] = read(text, { cast: true });
}
for (const text of ['Order 2026', 'page-7', 'home']) seen[text] = read(text, { cast: true, cast_date: true });
console.log('csv-parse 7.0.3:', seen);
assert.deepStrictEqual(seen, {
  '0x1f': 0,
  '0x00000000000000000000000000000000deadbeef': 0,
  '+491701234567': 491701234567,
  '9007199254740993': 9007199254740992,
  '123e4': 1230000,
  v12: 'v12',
  'Order 2026': '2026-01-01T00:00:00.000Z',
  'page-7': '2001-07-01T00:00:00.000Z',
  home: 'home',
});
NODE
TZ=UTC timeout 30 node run.mjs
