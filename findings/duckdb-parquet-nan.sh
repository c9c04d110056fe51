#!/usr/bin/env bash
# A NaN in a Parquet file that parquet-wasm 0.8.0 writes (an Arrow table of apache-arrow 21.2.0), asked by
# @duckdb/node-api 1.5.6-r.1.
# Guess: a query of the file answers what the same query of a table made of the file answers.
# Seen: the writer leaves NaN out of a column's lowest and highest value, as Parquet asks for; DuckDB, for which NaN is
# above all numbers, takes them for the bounds of all rows. max() is 10 from the file and NaN from the table; f > 50 and
# f = 'NaN' find nothing, while f > 5 of the same file finds the NaN. isnan() finds it in both, and a file that DuckDB
# itself writes has no bounds there.
# So one NaN in a file of another writer makes counts and shares disagree: write null, or ask with isnan().
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund parquet-wasm@0.8.0 apache-arrow@21.2.0 @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { Table, writeParquet } from 'parquet-wasm';
const written = tableFromArrays({ f: new Float64Array([Number.NaN, 10, 7]) });
writeFileSync('arrow.parquet', writeParquet(Table.fromIPCStream(tableToIPC(written, 'stream'))));
const connection = await (await DuckDBInstance.create()).connect();
await connection.run("create table memory as from 'arrow.parquet'");
await connection.run("copy memory to 'duckdb.parquet'");
const seen = {};
for (const source of ['memory', "'arrow.parquet'", "'duckdb.parquet'"]) {
  const counts = ['f > 5', 'f > 50', "f = 'NaN'", 'isnan(f)'].map((one) => `(select count(*)::int from ${source} where ${one})`);
  const read = await connection.runAndReadAll(`select ${counts}, (select max(f)::varchar from ${source})`);
  seen[source] = read.getRows()[0];
}
const bounds = await connection.runAndReadAll("select stats_min_value, stats_max_value from parquet_metadata('arrow.parquet')");
console.log("f > 5, f > 50, f = 'NaN', isnan(f), max(f):", seen, 'bounds in the file:', bounds.getRows()[0]);
assert.deepStrictEqual(seen, {
  memory: [3, 1, 1, 1, 'nan'],
  "'arrow.parquet'": [3, 0, 0, 1, '10.0'],
  "'duckdb.parquet'": [3, 1, 1, 1, 'nan'],
});
assert.deepStrictEqual(bounds.getRows()[0], ['7.0', '10.0']);
NODE
timeout 60 node run.mjs
