#!/usr/bin/env bash
# Which type a JavaScript BigInt has as a parameter of @duckdb/node-api 1.5.6-r.1.
# Guess: BIGINT if it fits into 64 bits, and HUGEINT above, as a number is INTEGER, BIGINT or DOUBLE by its value. A
# default like coalesce(id, $1) leaves the column what it was.
# Seen: HUGEINT whatever the value, 0n too. The column becomes HUGEINT with it, and since Parquet has no such type, a
# file of it has DOUBLE: ids of all rows change above 2^53, without a word. With 0 in place of 0n they stay.
# So whoever exports by COPY with parameters binds with types ({ types: [BIGINT] }) or casts in the statement.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { BIGINT, DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
await connection.run('create table orders as select 9007199254740993::bigint as id');
const seen = {};
for (const [name, value, types] of [['0n', 0n], ['0', 0], ['0n as BIGINT', 0n, [BIGINT]]]) {
  const [[type]] = (await connection.runAndReadAll('select typeof($1)', [value], types)).getRows();
  await connection.run("copy (select coalesce(id, $1) as id from orders) to 'orders.parquet'", [value], types);
  const read = await connection.runAndReadAll("select typeof(id), id from 'orders.parquet'");
  seen[name] = [type, ...read.getRows()[0]];
}
console.log('@duckdb/node-api 1.5.6-r.1, 9007199254740993 written by the side of a parameter:', seen);
assert.deepStrictEqual(seen, {
  '0n': ['HUGEINT', 'DOUBLE', 9007199254740992],
  '0': ['INTEGER', 'BIGINT', 9007199254740993n],
  '0n as BIGINT': ['BIGINT', 'BIGINT', 9007199254740993n],
});
NODE
timeout 60 node run.mjs
