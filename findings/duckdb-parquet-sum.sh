#!/usr/bin/env bash
# A sum of integers that DuckDB 1.5.6 writes to Parquet.
# Guess: sum() of BIGINT is a HUGEINT, for which Parquet has DECIMAL(38, 0): the file has the sum that the query had.
# Seen: the file has a DOUBLE: 9007199254740993 is read back as 9007199254740992. CSV and JSON have the exact sum.
# So an export to Parquet casts its sums to BIGINT or DECIMAL, or they change above 2^53.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DuckDBInstance } from '@duckdb/node-api';
const instance = await DuckDBInstance.create();
const connection = await instance.connect();
const rowOf = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson()[0].join(' ');
await connection.run('CREATE TABLE events AS SELECT unnest([9007199254740990, 2, 1])::BIGINT AS amount');
const seen = { version: await rowOf('SELECT version()') };
const show = (source) => rowOf(`SELECT typeof(total), total::DECIMAL(38, 0) FROM ${source}`);
seen.query = await show('(SELECT sum(amount) AS total FROM events)');
for (const format of ['csv', 'json', 'parquet']) {
  await connection.run(`COPY (SELECT sum(amount) AS total FROM events) TO 'total.${format}'`);
  seen[format] = await show(`'total.${format}'`);
}
await connection.run("COPY (SELECT sum(amount)::BIGINT AS total FROM events) TO 'cast.parquet'");
seen['parquet of a cast'] = await show("'cast.parquet'");
console.log(seen);
assert.deepStrictEqual(seen, {
  version: 'v1.5.6',
  query: 'HUGEINT 9007199254740993',
  csv: 'BIGINT 9007199254740993',
  json: 'BIGINT 9007199254740993',
  parquet: 'DOUBLE 9007199254740992',
  'parquet of a cast': 'BIGINT 9007199254740993',
});
NODE
timeout 60 node run.mjs
