#!/usr/bin/env bash
# The days of a report by generate_series(start, end, INTERVAL 1 DAY) over TIMESTAMPTZ in @duckdb/node-api 1.5.6-r.1, in
# zones whose clocks skip midnight (Cairo, Beirut, Santiago); and its months from the 31st.
# Guess: each day is its start plus a number of days: the one without a midnight begins at 01:00, all others at 00:00.
# Seen: each value is the one before plus a day, so all days after the skipped midnight begin at 01:00. Months shrink
# alike: 31 January, 28 February, and the 28th from then on.
# So a left join of such days with date_trunc('day', event) finds nothing for the days after the change, and the report
# shows zeros: make the series of dates or TIMESTAMPs, and turn each into a moment of the zone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const clocks = async (text) => (await connection.runAndReadAll(text)).getRows().flat().join(', ');
const seen = {};
for (const [zone, from, until] of [
  ['Africa/Cairo', '2026-04-23', '2026-04-26'],
  ['Asia/Beirut', '2026-03-28', '2026-03-31'],
  ['America/Santiago', '2026-09-05', '2026-09-08'],
]) {
  await connection.run(`set timezone = '${zone}'`);
  const bounds = (type) => `${type} '${from}', ${type} '${until}', interval 1 day`;
  seen[zone] = await clocks(
    `select strftime(day, '%d %H:%M') from (select unnest(range(${bounds('timestamptz')})) as day)`);
  seen[`${zone}, of TIMESTAMP`] = await clocks(
    `select strftime(day at time zone '${zone}', '%d %H:%M') from (select unnest(range(${bounds('timestamp')})) as day)`);
  seen[`${zone}, days found`] = await clocks(`select count(*)::int from (select unnest(range(${bounds('timestamptz')})) as day)
    where day = date_trunc('day', day + interval 12 hours)`);
}
const months = "timestamptz '2026-01-31', timestamptz '2026-05-30', interval 1 month";
seen.months = await clocks(`select strftime(day, '%d') from (select unnest(range(${months})) as day)`);
console.log('@duckdb/node-api 1.5.6-r.1:', seen);
assert.deepStrictEqual(seen, {
  'Africa/Cairo': '23 00:00, 24 01:00, 25 01:00',
  'Africa/Cairo, of TIMESTAMP': '23 00:00, 24 01:00, 25 00:00',
  'Africa/Cairo, days found': '2',
  'Asia/Beirut': '28 00:00, 29 01:00, 30 01:00',
  'Asia/Beirut, of TIMESTAMP': '28 00:00, 29 01:00, 30 00:00',
  'Asia/Beirut, days found': '2',
  'America/Santiago': '05 00:00, 06 01:00, 07 01:00',
  'America/Santiago, of TIMESTAMP': '05 00:00, 06 01:00, 07 00:00',
  'America/Santiago, days found': '2',
  months: '31, 28, 28, 28, 28',
});
NODE
timeout 60 node run.mjs
