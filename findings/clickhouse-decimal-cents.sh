#!/usr/bin/env bash
# Prices of a Float64 column, as JSON numbers become one, made Decimal for an exact sum in ClickHouse 26.7 (chdb 3.4.0), and in
# DuckDB 1.5.6.
# Guess: 19.99 becomes 19.99: a conversion to two digits rounds to the nearest, since 19.99 has no exact Float64.
# Seen: DuckDB rounds. ClickHouse cuts: 19.99 is 19.98, as is round(19.99, 2). Of the 10,000 prices up to 99.99 573 lose a
# cent. A literal, 19.99::Decimal(9, 2), is read from its text and is right, so that a try by hand shows nothing.
# So revenue is too low by a cent in every seventeenth sale: read prices from text, or add half a unit: round(price * 100)
# and then divide.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > clickhouse.cjs <<'NODE'
const assert = require('node:assert');
const { query } = require('chdb');
const ask = (sql) => query(sql, 'TabSeparated').trim();
const seen = {
  version: ask('SELECT version()'),
  'from a column': ask('SELECT toDecimal64(price, 2) FROM (SELECT arrayJoin([19.99]) AS price)'),
  'rounded before': ask('SELECT toDecimal64(round(price, 2), 2) FROM (SELECT arrayJoin([19.99]) AS price)'),
  'a literal': ask('SELECT 19.99::Decimal(9, 2)'),
  'from text': ask("SELECT toDecimal64('19.99', 2)"),
  'by round(price * 100)': ask('SELECT toDecimal64(round(price * 100), 2) / 100 FROM (SELECT arrayJoin([19.99]) AS price)'),
  'a cent less, of 10,000': ask(`SELECT countIf(toDecimal64(number / 100, 2) = toDecimal64(number - 1, 2) / 100)
    FROM numbers(10000)`),
};
console.log('ClickHouse:', seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  'from a column': '19.98',
  'rounded before': '19.98',
  'a literal': '19.99',
  'from text': '19.99',
  'by round(price * 100)': '19.99',
  'a cent less, of 10,000': '573',
});
NODE
cat > duckdb.mjs <<'NODE'
import assert from 'node:assert';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const reader = await connection.runAndReadAll(`SELECT count(*) FILTER (WHERE (n / 100)::DECIMAL(9, 2) <> n::DECIMAL(9, 2) / 100),
  any_value(typeof(n / 100)) FROM range(10000) t(n)`);
const [[wrong, type]] = reader.getRows();
console.log('DuckDB 1.5.6:', wrong, 'of 10,000 are wrong, from', type);
assert.deepStrictEqual([wrong, type], [0n, 'DOUBLE']);
process.exit();
NODE
timeout 60 node clickhouse.cjs
timeout 30 node duckdb.mjs
