#!/usr/bin/env bash
# A column of amounts in a file of CSV or of JSON, whole for its first 25,000 rows, read by DuckDB 1.5.6 without a schema.
# Guess: the type is guessed from the first 20,480 rows as BIGINT, and 2.50 below is then an error that names the line, as a
# text there is.
# Seen: the fraction is rounded without a word: 0.49 is read as 0, and 2.50 as 3 from CSV and as 2 from JSON. The same rows in
# another order, or `sample_size = -1`, give a DOUBLE and the right sum.
# So revenue depends on which rows come first, and rounding is no error that shows: give types to columns of money.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const amounts = [...Array(25_000).fill('10'), '2.50', '0.49'];
const jsonOf = (amount) => `{"amount":${amount}}`;
writeFileSync('late.csv', ['amount', ...amounts].join('\n'));
writeFileSync('early.csv', ['amount', ...amounts.toReversed()].join('\n'));
writeFileSync('late.json', amounts.map(jsonOf).join('\n'));
writeFileSync('text.csv', ['amount', ...amounts, 'none'].join('\n'));
const seen = {};
for (const source of [`'late.csv'`, `'late.json'`, `'early.csv'`, `read_csv('late.csv', sample_size = -1)`, `'text.csv'`]) {
  try {
    const reader = await connection.runAndReadAll(`SELECT sum(amount)::VARCHAR, any_value(typeof(amount)) FROM ${source}`);
    seen[source] = reader.getRows()[0].join(', ');
  } catch (error) {
    seen[source] = error.message.split('\n').find((line) => line.includes('convert string'));
  }
}
console.log('DuckDB 1.5.6, the sum is 250002.99:', seen);
assert.deepStrictEqual(seen, {
  "'late.csv'": '250003, BIGINT',
  "'late.json'": '250002, BIGINT',
  "'early.csv'": '250002.99, DOUBLE',
  "read_csv('late.csv', sample_size = -1)": '250002.99, DOUBLE',
  "'text.csv'": `Error when converting column "amount". Could not convert string "none" to 'BIGINT'`,
});
process.exit();
NODE
timeout 60 node run.mjs
