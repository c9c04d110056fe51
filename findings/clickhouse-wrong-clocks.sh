#!/usr/bin/env bash
# Days of a moment in a DateTime64 that a device with a wrong clock has sent (1969-12-31 23:59:58, 2150-05-05 10:00), in
# ClickHouse 26.7 (chdb 3.4.0).
# Guess: the type holds 1900 to 2299, and the functions that cut it to days, hours and months take it, or all clamp alike.
# Seen: one moment has five answers: toDate is 6 June 2149, toStartOfDay 2106 at 06:28:16, toStartOfMonth January 1970,
# toStartOfInterval by the month 2149 again; date_trunc('day'), which one takes for toStartOfDay by another name, and toYYYYMM
# are right. 2150 is 1970, 2014 or 2149.
# So one bad clock makes charts with a day in 2149, a partition by toDate whose TTL never ends, and counts by day and by month
# that do not add up: bound the times of events when they are taken, or cut days by date_trunc.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { query } = require('chdb');
const days = {
  'toDate(moment)': ['2149-06-06', '1970-11-29'],
  'toStartOfDay(moment)': ['2106-02-06 06:28:16', '2014-03-28 17:31:44'],
  "date_trunc('day', moment)": ['1969-12-31 00:00:00', '2150-05-05 00:00:00'],
  'toStartOfHour(moment)': ['2106-02-07 05:28:16', '2014-03-29 03:31:44'],
  "date_trunc('hour', moment)": ['1969-12-31 23:00:00', '2150-05-05 10:00:00'],
  'toStartOfMonth(moment)': ['1970-01-01', '2149-06-06'],
  'toStartOfInterval(moment, INTERVAL 1 MONTH)': ['2149-05-07', '1970-11-25'],
  'toYYYYMM(moment)': ['196912', '215005'],
};
const seen = {};
for (const expression of Object.keys(days)) {
  seen[expression] = ['1969-12-31 23:59:58', '2150-05-05 10:00:00'].map((text) =>
    query(`SELECT ${expression} FROM (SELECT toDateTime64('${text}', 3, 'UTC') AS moment)`, 'TabSeparated').trim(),
  );
}
console.log('ClickHouse', query('SELECT version()', 'TabSeparated').trim(), seen);
assert.deepStrictEqual(seen, days);
NODE
TZ=UTC timeout 60 node run.cjs
