#!/usr/bin/env bash
# Times in SQLite cut into buckets by `at / ? * ?`, with the bucket's width bound: Node's node:sqlite 24.21.0,
# @libsql/client 0.18.0, sql.js 1.17.0 and node-sqlite3-wasm 0.8.60.
# Guess: 60000 is bound as an integer, because it is one, so that the division drops the rest as with the number written
# into the statement; node:sqlite's documentation maps a number to "INTEGER or REAL".
# Seen: node:sqlite and libsql bind every number as REAL: nothing is dropped, each millisecond is a bucket of its own,
# and no error says so. sql.js does so from 2,147,483,648 on: a width of a day is right, and one of 30 days is not. A
# BigInt is an integer in node:sqlite and libsql; node-sqlite3-wasm decides by the value.
# So the width is bound as a BigInt, or cast: `at / CAST(? AS INTEGER)`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund \
  node@24.21.0 @libsql/client@0.18.0 sql.js@1.17.0 node-sqlite3-wasm@0.8.60 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@libsql/client';
import wasm from 'node-sqlite3-wasm';
import initSqlJs from 'sql.js';
const sql = `WITH events(at) AS (VALUES (1764547265123), (1764547265124), (1764547266000))
  SELECT count(DISTINCT at / ?1 * ?1) AS buckets FROM events`;
const node = new DatabaseSync(':memory:').prepare(sql);
const libsql = createClient({ url: ':memory:' });
const sqlJs = new (await initSqlJs()).Database();
const inWasm = new wasm.Database();
const drivers = {
  'node:sqlite': (width) => node.get(width).buckets,
  libsql: async (width) => (await libsql.execute({ sql, args: [width] })).rows[0].buckets,
  'sql.js': (width) => sqlJs.exec(sql, [width])[0].values[0][0],
  'node-sqlite3-wasm': (width) => inWasm.get(sql, [width]).buckets,
};
const seen = {};
for (const [name, count] of Object.entries(drivers)) {
  seen[name] = [];
  for (const width of [60_000, 86_400_000, 30 * 86_400_000]) seen[name].push(await count(width));
}
inWasm.close();
console.log(`Node ${process.version}, buckets of three times, by widths of a minute, a day, 30 days:`, seen);
assert.deepStrictEqual(seen, {
  'node:sqlite': [3, 3, 3],
  libsql: [3, 3, 3],
  'sql.js': [1, 1, 3],
  'node-sqlite3-wasm': [1, 1, 1],
});
assert.deepStrictEqual([await drivers['node:sqlite'](60_000n), await drivers.libsql(60_000n)], [1, 1]);
NODE
timeout 60 node_modules/.bin/node run.mjs
