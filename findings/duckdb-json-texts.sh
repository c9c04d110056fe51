#!/usr/bin/env bash
# Texts of JSON with hyphens or colons that DuckDB 1.5.6 reads without a schema.
# Guess: JSON says by its quotes what is a text, so that only what is a day or a time of ISO 8601 becomes one, and one
# column has one form.
# Seen: three numbers with hyphens are a day, each text in the form that fits it first: beside 12-31-26, which is the
# last of December 2026, 10-11-12 is 12 November 2010, and 31-12-26 is 26 December 2031. Sizes like 1-2-3 are days,
# scores like 9:05 are times, and a column that says only "Infinity" or "epoch" is the first of January 1900. One text
# that is none of it, as "A1", keeps the whole column as text, so that a file of another day has another type.
# So name the types (`columns = {...}`) of an import.
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
const read = async (values, source) => {
  writeFileSync('orders.json', values.map((value) => JSON.stringify({ value })).join('\n'));
  const reader = await connection.runAndReadAll(`SELECT typeof(value), value::VARCHAR FROM ${source}`);
  const rows = reader.getRowsJson();
  return [rows[0][0], ...rows.map(([, text]) => text)].join(' ');
};
const dates = ['12-31-26', '10-11-12'];
const times = ['9:05', '10:20'];
const columns = [dates, ['31-12-26'], ['1-2-3', '4-5-6'], times, ['Infinity'], ['epoch'], ['10-11-12', 'A1']];
const seen = {};
for (const values of columns) seen[values.join(' ')] = await read(values, "'orders.json'");
seen.named = await read(dates, "read_json('orders.json', columns = {value: 'VARCHAR'})");
console.log('DuckDB 1.5.6, texts of JSON, and what is read:', seen);
assert.deepStrictEqual(seen, {
  '12-31-26 10-11-12': 'DATE 2026-12-31 2010-11-12',
  '31-12-26': 'DATE 2031-12-26',
  '1-2-3 4-5-6': 'DATE 2001-02-03 2004-05-06',
  '9:05 10:20': 'TIME 09:05:00 10:20:00',
  Infinity: 'DATE 1900-01-01',
  epoch: 'DATE 1900-01-01',
  '10-11-12 A1': 'VARCHAR 10-11-12 A1',
  named: 'VARCHAR 12-31-26 10-11-12',
});
NODE
timeout 60 node run.mjs
