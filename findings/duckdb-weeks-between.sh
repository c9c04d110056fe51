#!/usr/bin/env bash
# Weeks between two days by date_diff of DuckDB 1.5.6, beside ClickHouse 26.7 (chdb 3.4.0).
# Guess: date_diff counts the boundaries that lie between, as DuckDB's reference says and as it does for months and
# quarters; weeks begin on Monday, as date_trunc('week') has them. Whole spans are date_sub's.
# Seen: weeks alone are whole spans of seven days: from Sunday to Monday, and from Tuesday to the Monday after, 0 weeks;
# 43 in 100 pairs of days have one week fewer than lies between the Mondays that date_trunc gives for them. ClickHouse's
# date_diff counts the Mondays.
# So a visitor of Tuesday who is back on Monday is retained in week 0: take date_diff of both days' date_trunc('week').
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 chdb@3.4.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DuckDBInstance } from '@duckdb/node-api';
import chdb from 'chdb';
const connection = await (await DuckDBInstance.create()).connect();
const rowOf = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson()[0].map(Number);
const clickHouse = (sql) => chdb.query(sql, 'TabSeparated').trim().split('\t').map(Number);
const pairs = {
  'week, Sunday to Monday': ['week', '2026-11-29', '2026-11-30'],
  'week, Tuesday to Monday': ['week', '2026-11-24', '2026-11-30'],
  'week, Tuesday to Tuesday': ['week', '2026-11-24', '2026-12-01'],
  'month, last day to first': ['month', '2026-11-30', '2026-12-01'],
  'quarter, last day to first': ['quarter', '2026-09-30', '2026-10-01'],
};
const seen = {};
for (const [name, [unit, first, second]] of Object.entries(pairs)) {
  const [diff, truncated, sub] = await rowOf(`SELECT date_diff('${unit}', DATE '${first}', DATE '${second}'),
    date_diff('${unit}', date_trunc('${unit}', DATE '${first}'), date_trunc('${unit}', DATE '${second}')),
    date_sub('${unit}', DATE '${first}', DATE '${second}')`);
  const [other] = clickHouse(`SELECT date_diff('${unit}', toDate('${first}'), toDate('${second}'))`);
  seen[name] = { diff, truncated, sub, clickHouse: other };
}
const days = "SELECT DATE '2026-01-01' + range::INTEGER AS day FROM range(364)";
const [all, fewer] = await rowOf(`SELECT count(*), count(*) FILTER (
    date_diff('week', a.day, b.day) = date_diff('week', date_trunc('week', a.day), date_trunc('week', b.day)) - 1)
  FROM (${days}) a, (${days}) b WHERE a.day < b.day`);
seen['share of pairs with a week fewer'] = Math.round((100 * fewer) / all) / 100;
console.log('DuckDB 1.5.6: date_diff, of date_trunc, date_sub; date_diff of ClickHouse:', seen);
assert.deepStrictEqual(seen, {
  'week, Sunday to Monday': { diff: 0, truncated: 1, sub: 0, clickHouse: 1 },
  'week, Tuesday to Monday': { diff: 0, truncated: 1, sub: 0, clickHouse: 1 },
  'week, Tuesday to Tuesday': { diff: 1, truncated: 1, sub: 1, clickHouse: 1 },
  'month, last day to first': { diff: 1, truncated: 1, sub: 0, clickHouse: 1 },
  'quarter, last day to first': { diff: 1, truncated: 1, sub: 0, clickHouse: 1 },
  'share of pairs with a week fewer': 0.43,
});
NODE
timeout 60 node run.mjs
