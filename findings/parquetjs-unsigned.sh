#!/usr/bin/env bash
# @dsnp/parquetjs 1.8.8 on numbers without a sign in a Parquet file of DuckDB 1.5.6.
# Guess: the column says UINT_32 or UINT_64, so that the reader gives the number that was written, or refuses it.
# Seen: the upper half of the numbers comes back negative, without a word: a hash, or a count of bytes above 2 GiB in
# 32 bits. Numbers of 8 and 16 bits are right.
# So ids that are hashes no longer join with those of another reader: read them with BigInt.asUintN(64, value).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @dsnp/parquetjs@1.8.8 @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import parquet from '@dsnp/parquetjs';
import { DuckDBInstance } from '@duckdb/node-api';
const instance = await DuckDBInstance.create();
const connection = await instance.connect();
await connection.run(`COPY (
  SELECT 255::UTINYINT AS bits8, 65535::USMALLINT AS bits16, 3000000000::UINTEGER AS bits32,
    18000000000000000000::UBIGINT AS bits64
) TO 'numbers.parquet'`);
const [written] = (await connection.runAndReadAll("SELECT * FROM 'numbers.parquet'")).getRowObjectsJson();
const reader = await parquet.ParquetReader.openFile('numbers.parquet');
const row = await reader.getCursor().next();
await reader.close();
const seen = {};
for (const [name, value] of Object.entries(written)) {
  seen[name] = `${reader.schema.fields[name].originalType} ${value}, read as ${row[name]}`;
}
console.log(seen);
assert.deepStrictEqual(seen, {
  bits8: 'UINT_8 255, read as 255',
  bits16: 'UINT_16 65535, read as 65535',
  bits32: 'UINT_32 3000000000, read as -1294967296',
  bits64: 'UINT_64 18000000000000000000, read as -446744073709551616',
});
NODE
timeout 60 node run.mjs
