#!/usr/bin/env bash
# The start of the day whose midnight clocks skip (Cairo, Santiago and Havana in 2026) by spacetime 7.15.0, date-fns-tz
# 3.2.0 (date-fns 4.4.0) and the timezone plugin of dayjs 1.11.23, beside temporal-polyfill 1.0.8.
# Guess: such a day begins at 01:00, and all of its hours have that one start; a library that sets the clock to 00:00
# lands on one side of the gap or the other, for all hours alike.
# Seen: in spacetime startOf('day') then keeps the time as it was: each hour is a day of its own, and a week that begins
# on that day has as many starts. date-fns-tz has 23:00 of the day before; dayjs has it for Cairo, and on a machine in
# New York for all three.
# So the chart of that day has 23 bars, or its events are the day before's. Temporal has the one start.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages='spacetime@7.15.0 date-fns-tz@3.2.0 date-fns@4.4.0 dayjs@1.11.23 temporal-polyfill@1.0.8'
timeout 180 npm install --silent --no-audit --no-fund $packages >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { startOfDay } from 'date-fns';
import { fromZonedTime, toZonedTime } from 'date-fns-tz';
import dayjs from 'dayjs';
import timezone from 'dayjs/plugin/timezone.js';
import utc from 'dayjs/plugin/utc.js';
import spacetime from 'spacetime';
import { Temporal } from 'temporal-polyfill';
dayjs.extend(utc);
dayjs.extend(timezone);
const starts = {
  temporal: (atMs, zone) => {
    return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(zone).startOfDay().epochMilliseconds;
  },
  spacetime: (atMs, zone) => spacetime(atMs, zone).startOf('day').epoch,
  'date-fns-tz': (atMs, zone) => fromZonedTime(startOfDay(toZonedTime(atMs, zone)), zone).getTime(),
  dayjs: (atMs, zone) => dayjs(atMs).tz(zone).startOf('day').valueOf(),
};
const local = (atMs, zone) => {
  const time = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(zone).toPlainDateTime();
  return time.toString({ smallestUnit: 'minute' });
};
const dayjsStarts = {
  UTC: ['2026-04-23T23:00', '2026-09-06T01:00', '2026-03-08T01:00'],
  'America/New_York': ['2026-04-23T23:00', '2026-09-05T23:00', '2026-03-07T23:00'],
}[process.env.TZ];
const hourMs = 3_600_000;
const firstHours = {
  'Africa/Cairo': '2026-04-24T01:00+03:00',
  'America/Santiago': '2026-09-06T01:00-03:00',
  'America/Havana': '2026-03-08T01:00-04:00',
};
const seen = {};
for (const [zone, firstHour] of Object.entries(firstHours)) {
  for (const [library, startOf] of Object.entries(starts)) {
    const found = new Set();
    for (let hour = 0; hour < 23; hour++) found.add(startOf(Date.parse(firstHour) + (hour + 0.5) * hourMs, zone));
    const first = local(Math.min(...found), zone);
    seen[`${zone} ${library}`] = found.size === 1 ? first : `${found.size} starts, from ${first}`;
  }
}
const weeks = new Set();
for (let hour = 0; hour < 23; hour++) {
  const atMs = Date.parse(firstHours['America/Santiago']) + (hour + 72.5) * hourMs;
  weeks.add(spacetime(atMs, 'America/Santiago').weekStart('sunday').startOf('week').epoch);
}
seen['a Wednesday, spacetime, starts of its week'] = weeks.size;
console.log(`starts of one day of 23 hours, on a machine in ${process.env.TZ}:`, seen);
assert.deepStrictEqual(seen, {
  'Africa/Cairo temporal': '2026-04-24T01:00',
  'Africa/Cairo spacetime': '23 starts, from 2026-04-24T01:00',
  'Africa/Cairo date-fns-tz': '2026-04-23T23:00',
  'Africa/Cairo dayjs': dayjsStarts[0],
  'America/Santiago temporal': '2026-09-06T01:00',
  'America/Santiago spacetime': '23 starts, from 2026-09-06T01:00',
  'America/Santiago date-fns-tz': '2026-09-05T23:00',
  'America/Santiago dayjs': dayjsStarts[1],
  'America/Havana temporal': '2026-03-08T01:00',
  'America/Havana spacetime': '23 starts, from 2026-03-08T01:00',
  'America/Havana date-fns-tz': '2026-03-07T23:00',
  'America/Havana dayjs': dayjsStarts[2],
  'a Wednesday, spacetime, starts of its week': 23,
});
NODE
TZ=UTC timeout 30 node run.mjs
TZ=America/New_York timeout 30 node run.mjs
