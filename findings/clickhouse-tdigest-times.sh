#!/usr/bin/env bash
# quantileTDigest of ClickHouse 26.7 (chdb 3.4.0) on times and on large whole numbers.
# Guess: a t-digest approximates the rank and keeps values: of a thousand equal values each quantile is that value.
# Seen: values go through Float32. A thousand events at 12:10:00 have their median at 12:09:36, which no event has,
# before all of them; a time is off by up to a minute, and whole numbers above 2^24 are rounded: 16777217 cents are
# 16777216. The manual says Float32 of the result for numbers; a DateTime comes back as a DateTime that looks exact.
# So take quantile() or quantileExact(), which keep the type, for moments, or differences of moments in seconds.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { query } = require('chdb');
const ask = (sql) => query(sql, 'TabSeparated').trim();
const median = (kind, value) => ask(`SELECT ${kind}(0.5)(value) FROM (SELECT ${value} AS value FROM numbers(1000))`);
const values = ["toDateTime('2026-07-15 12:10:00', 'UTC')", "toDate('2026-07-15')", '16777217', '100000001', '60000'];
const seen = { version: ask('SELECT version()') };
for (const value of values) {
  seen[value] = ['quantileTDigest', 'quantile', 'quantileExact'].map((kind) => median(kind, value));
}
console.log('chdb 3.4.0, median of 1,000 equal values by quantileTDigest, quantile, quantileExact:', seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  "toDateTime('2026-07-15 12:10:00', 'UTC')": ['2026-07-15 12:09:36', '2026-07-15 12:10:00', '2026-07-15 12:10:00'],
  "toDate('2026-07-15')": ['2026-07-15', '2026-07-15', '2026-07-15'],
  16777217: ['16777216', '16777217', '16777217'],
  100000001: ['100000000', '100000001', '100000001'],
  60000: ['60000', '60000', '60000'],
});
NODE
timeout 60 node run.cjs
