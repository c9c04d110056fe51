#!/usr/bin/env bash
# What clocks show on 15 December 2026 in three zones whose rules changed in 2026, told by Node 20.20.2 (the last of its
# line), Node 26.10.0, ClickHouse 26.7.2.1 (chdb 3.4.0) and DuckDB 1.5.6.
# British Columbia has not turned its clocks back since March 2026, nor Alberta, and Morocco stays on UTC.
# Guess: a Node that gets no more fixes is behind; a database of July 2026 knows the spring's laws, and whatever knows
# 2026c tells the same as what is newer.
# Seen: ClickHouse is as old as Node 20 in all three. Node 26 (2026c) and DuckDB agree on these, and differ on Inuvik,
# whose change came later. So "days of Vancouver", asked of ClickHouse and drawn by a page, are an hour apart.
# So rules have to come from data that is brought along, and buckets have to be cut by one party.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo 'skipped: tried on Linux only'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for version in 20.20.2 26.10.0; do
  mkdir "node-$version"
  echo '{ "private": true }' >"node-$version/package.json"
  timeout 300 npm install --silent --no-audit --no-fund --prefix "node-$version" "node@$version" >/dev/null
done
echo '{ "private": true }' >package.json
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 @duckdb/node-api@1.5.6-r.1 >/dev/null
timeout 120 node - <<'NODE'
const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { query } = require('chdb');
const { DuckDBInstance } = require('@duckdb/node-api');
const zones = ['America/Vancouver', 'America/Edmonton', 'Africa/Casablanca', 'America/Inuvik'];
const second = Date.UTC(2026, 11, 15, 12) / 1000;
const byNode = (version) => {
  const script = `const clock = (timeZone) =>
      new Date(${second * 1000}).toLocaleTimeString('sv', { timeZone, hour: '2-digit', minute: '2-digit' });
    console.log(JSON.stringify([process.versions.tz, ...${JSON.stringify(zones)}.map(clock)]));`;
  return JSON.parse(execFileSync(`node-${version}/node_modules/.bin/node`, ['-e', script], { encoding: 'utf8' }));
};
(async () => {
  const duck = await (await DuckDBInstance.create()).connect();
  const byDuck = async (zone) => {
    const read = await duck.runAndReadAll(`SELECT strftime(timezone('${zone}', to_timestamp(${second})), '%H:%M')`);
    return read.getRowsJS()[0][0];
  };
  const byClickHouse = (zone) =>
    query(`SELECT formatDateTime(toDateTime(${second}, '${zone}'), '%H:%i')`, 'TabSeparated').trim();
  const seen = {
    zones,
    'Node 20.20.2': byNode('20.20.2'),
    'Node 26.10.0': byNode('26.10.0'),
    [`ClickHouse ${query('SELECT version()', 'TabSeparated').trim()}`]: zones.map(byClickHouse),
    'DuckDB 1.5.6': await Promise.all(zones.map(byDuck)),
  };
  console.log(seen);
  assert.deepStrictEqual(seen, {
    zones,
    'Node 20.20.2': ['2025c', '04:00', '05:00', '13:00', '05:00'],
    'Node 26.10.0': ['2026c', '05:00', '06:00', '12:00', '05:00'],
    'ClickHouse 26.7.2.1': ['04:00', '05:00', '13:00', '05:00'],
    'DuckDB 1.5.6': ['05:00', '06:00', '12:00', '06:00'],
  });
})();
NODE
