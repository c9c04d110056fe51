#!/usr/bin/env bash
# A rate of visits on a day without visits, written by COPY of DuckDB 1.5.6 to JSON and CSV.
# Guess: 0 / 0 is NULL or an error, as in most databases; if it is NaN, JSON, which has no such number, gets null or an
# error.
# Seen: it is NaN, and the file has a bare NaN, and Infinity for 1 / 0: no JSON, and JSON.parse refuses the line.
# DuckDB's json_valid() finds such a line valid. CSV has nan or -nan, and inf.
# So an export fails at its reader on the one day without visits: write nullif(visits, 0) below each line.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const rates = 'SELECT visits, 0 / visits AS rate, 1 / visits AS sales FROM (VALUES (5), (0)) t(visits)';
await connection.run(`COPY (${rates}) TO 'rates.json'`);
await connection.run(`COPY (${rates}) TO 'rates.csv' (HEADER false)`);
const [first, second] = readFileSync('rates.json', 'utf8').trim().split('\n');
const valid = await connection.runAndReadAll(`SELECT json_valid('${second}')`);
let problem = 'none';
try {
  JSON.parse(second);
} catch (error) {
  problem = error.name;
}
const csv = readFileSync('rates.csv', 'utf8').trim();
const seen = { first, second, problem, json_valid: valid.getRows()[0][0], csv };
console.log('DuckDB 1.5.6:', seen);
assert.deepStrictEqual(JSON.parse(first), { visits: 5, rate: 0, sales: 0.2 });
assert.strictEqual(second, '{"visits":0,"rate":NaN,"sales":Infinity}');
assert.deepStrictEqual([seen.problem, seen.json_valid], ['SyntaxError', true]);
assert.match(seen.csv, /0,-?nan,inf$/);
process.exit();
NODE
timeout 60 node run.mjs
