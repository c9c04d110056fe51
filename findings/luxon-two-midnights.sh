#!/usr/bin/env bash
# startOf('day') of luxon 3.7.2 and moment-timezone 0.6.6 where clocks go back at 01:00, so that midnight comes twice
# (each autumn in the Azores and in Cuba), beside temporal-polyfill 1.0.8.
# Guess: all times of one local day have the same start of day, and it is later than none of them.
# Seen: both cut the day in two: the hour after the first midnight is a group of its own, and all later hours begin at
# the second midnight. For Cuba moment gives the day's last hour to the next day instead. Temporal alone is right.
# So counts by day that are grouped this way have a day too many, or an hour in the wrong day.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages='luxon@3.7.2 moment-timezone@0.6.6 temporal-polyfill@1.0.8'
timeout 120 npm install --silent --no-audit --no-fund $packages >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DateTime } from 'luxon';
import moment from 'moment-timezone';
import { Temporal } from 'temporal-polyfill';
const startOfDay = {
  luxon: (atMs, zone) => DateTime.fromMillis(atMs, { zone }).startOf('day').toMillis(),
  moment: (atMs, zone) => moment.tz(atMs, zone).startOf('day').valueOf(),
  temporal: (atMs, zone) => {
    return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(zone).startOfDay().epochMilliseconds;
  },
};
const hourMs = 3_600_000;
const seen = {};
for (const [zone, firstHour] of [['Atlantic/Azores', '2026-10-25T00:00Z'], ['America/Havana', '2026-11-01T04:00Z']]) {
  for (const [library, startOf] of Object.entries(startOfDay)) {
    const hoursByStart = {};
    for (let hour = 0; hour < 25; hour++) {
      const start = new Date(startOf(Date.parse(firstHour) + hour * hourMs, zone)).toISOString().slice(0, 16);
      hoursByStart[`${start}Z`] = (hoursByStart[`${start}Z`] ?? 0) + 1;
    }
    seen[`${zone} ${library}`] = hoursByStart;
  }
}
console.log('hours of one local day of 25 hours, by the start of their day:', seen);
assert.deepStrictEqual(seen, {
  'Atlantic/Azores luxon': { '2026-10-25T00:00Z': 1, '2026-10-25T01:00Z': 24 },
  'Atlantic/Azores moment': { '2026-10-25T00:00Z': 1, '2026-10-25T01:00Z': 24 },
  'Atlantic/Azores temporal': { '2026-10-25T00:00Z': 25 },
  'America/Havana luxon': { '2026-11-01T04:00Z': 1, '2026-11-01T05:00Z': 24 },
  'America/Havana moment': { '2026-11-01T04:00Z': 24, '2026-11-02T04:00Z': 1 },
  'America/Havana temporal': { '2026-11-01T04:00Z': 25 },
});
NODE
timeout 30 node run.mjs
