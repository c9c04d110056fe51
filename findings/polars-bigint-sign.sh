#!/usr/bin/env bash
# Negative BigInts in nodejs-polars 0.25.2 (with nodejs-polars-linux-x64-gnu, its build for this kind of machine).
# Guess: a column of BigInts is Int64 where one of them is negative, or one that does not fit is an error.
# Seen: the column is UInt64 and the sign is dropped: -5n is 5n, in a frame, a series, records and a literal, so that a
# refund adds to the sum; of 2^64 and more the lower 64 bits stay. Numbers keep their sign, as doubles.
# So pass integers as numbers, up to 2^53, and cast: pl.col('cents').cast(pl.Int64).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages='nodejs-polars@0.25.2 nodejs-polars-linux-x64-gnu@0.25.2'
timeout 180 npm install --silent --no-audit --no-fund $packages >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const pl = require('nodejs-polars');
const cents = [1_000n, -400n];
const valuesOf = (frame) => frame.toRecords().map(({ cents }) => cents);
const frame = pl.DataFrame({ cents });
const seen = {
  type: String(frame.getColumn('cents').dtype),
  frame: valuesOf(frame),
  series: pl.Series('cents', cents).toArray(),
  records: valuesOf(pl.readRecords(cents.map((value) => ({ cents: value })))),
  literal: valuesOf(pl.DataFrame({ one: [1] }).withColumn(pl.lit(-400n).alias('cents'))),
  sum: Number(frame.getColumn('cents').sum()),
  'below zero': frame.filter(pl.col('cents').lt(0)).height,
  '2^64 + 7': valuesOf(pl.DataFrame({ cents: [2n ** 64n + 7n] })),
  'as numbers': valuesOf(pl.DataFrame({ cents: cents.map(Number) }).select(pl.col('cents').cast(pl.Int64))).map(Number),
};
console.log('nodejs-polars 0.25.2 of', cents, seen);
assert.deepStrictEqual(seen, {
  type: 'DataType(UInt64)',
  frame: [1_000n, 400n],
  series: [1_000n, 400n],
  records: [1_000n, 400n],
  literal: [400n],
  sum: 1_400,
  'below zero': 0,
  '2^64 + 7': [7n],
  'as numbers': [1_000, -400],
});
NODE
timeout 60 node run.cjs
