#!/usr/bin/env bash
# Days without events that ORDER BY day WITH FILL STEP INTERVAL 1 DAY adds in ClickHouse 26.7 (chdb 3.4.0), in zones
# whose clocks skip midnight (Cairo, Beirut, Santiago).
# Guess: it adds each missing day once, as toStartOfDay has it, as it does in Berlin: where midnight is skipped, 01:00.
# Seen: a step onto the skipped midnight goes back by an hour: the day before comes again, at 23:00, and so does each
# day after it until the next row of events. A day with events has a second row with none then, an hour before its
# midnight.
# So the chart shows one day twice and zeros on days of another name: fill over Date (toDate(moment, zone)), which is
# right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { query } = require('chdb');
const ask = (sql) => query(sql, 'TabSeparated').trim().replaceAll('\t', ' ').replaceAll('\n', ', ');
/** Days of one event on the first day and one four days later, in clock time of the zone, with the number of events. */
const filled = (zone, first, day, format) => ask(`SELECT formatDateTime(day, '${format}') || ': ' || toString(events) FROM (
  SELECT ${day} AS day, count() AS events
  FROM (SELECT toDateTime('${first} 12:00:00', '${zone}') + number * 86400 * 4 AS moment FROM numbers(2))
  GROUP BY day ORDER BY day WITH FILL STEP INTERVAL 1 DAY)`);
const seen = { version: ask('SELECT version()') };
for (const [zone, first] of [
  ['Europe/Berlin', '2026-03-28'],
  ['Africa/Cairo', '2026-04-23'],
  ['Asia/Beirut', '2026-03-28'],
  ['America/Santiago', '2026-09-05'],
]) {
  seen[zone] = filled(zone, first, 'toStartOfDay(moment)', '%d %H:%i');
  seen[`${zone}, Date`] = filled(zone, first, 'toDate(moment)', '%d');
}
console.log('chdb 3.4.0, events by day:', seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  'Europe/Berlin': '28 00:00: 1, 29 00:00: 0, 30 00:00: 0, 31 00:00: 0, 01 00:00: 1',
  'Europe/Berlin, Date': '28: 1, 29: 0, 30: 0, 31: 0, 01: 1',
  'Africa/Cairo': '23 00:00: 1, 23 23:00: 0, 24 23:00: 0, 25 23:00: 0, 26 23:00: 0, 27 00:00: 1',
  'Africa/Cairo, Date': '23: 1, 24: 0, 25: 0, 26: 0, 27: 1',
  'Asia/Beirut': '28 00:00: 1, 28 23:00: 0, 29 23:00: 0, 30 23:00: 0, 31 23:00: 0, 01 00:00: 1',
  'Asia/Beirut, Date': '28: 1, 29: 0, 30: 0, 31: 0, 01: 1',
  'America/Santiago': '05 00:00: 1, 05 23:00: 0, 06 23:00: 0, 07 23:00: 0, 08 23:00: 0, 09 00:00: 1',
  'America/Santiago, Date': '05: 1, 06: 0, 07: 0, 08: 0, 09: 1',
});
NODE
timeout 60 node run.cjs
