#!/usr/bin/env bash
# Days of a zone by the plugins utc and timezone of dayjs 1.11.23, on days on which clocks change.
# Guess: dayjs.tz(noon, zone).startOf('day') is the zone's midnight whatever zone the machine has, add(1, 'day') is the next
# one, and both are as in other libraries, here temporal-polyfill 1.0.8.
# Seen: the same call gives Berlin's midnight on a machine in UTC, and a moment an hour off on one in New York. On Lord Howe,
# whose clocks change by half an hour, it is off on both. The next day is 24 hours later, so that it begins at 01:00 or 23:00.
# So a report by day, made by the server and again in a browser, has other borders twice a year: events of the hour are in
# neither day or in both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund dayjs@1.11.23 temporal-polyfill@1.0.8 >/dev/null
cat > run.mjs <<'NODE'
import dayjs from 'dayjs';
import timezone from 'dayjs/plugin/timezone.js';
import utc from 'dayjs/plugin/utc.js';
import { Temporal } from 'temporal-polyfill';
dayjs.extend(utc);
dayjs.extend(timezone);
for (const [date, zone] of [['2026-03-29', 'Europe/Berlin'], ['2026-10-25', 'Europe/Berlin'], ['2026-10-04', 'Australia/Lord_Howe']]) {
  const start = Temporal.PlainDate.from(date).toZonedDateTime(zone);
  const day = dayjs.tz(`${date} 12:00`, zone).startOf('day');
  const minutesOff = (moment, right) => (moment.valueOf() - right.epochMilliseconds) / 60_000;
  const next = minutesOff(day.add(1, 'day'), start.add({ days: 1 }));
  console.log(`${date} ${zone}: starts ${minutesOff(day, start)}, ends ${next} minutes off`);
}
NODE
failed=0
check() {
  seen=$(TZ=$1 timeout 30 node run.mjs)
  printf 'dayjs 1.11.23, machine in %s:\n%s\n' "$1" "$seen"
  [ "$seen" = "$2" ] || failed=1
}
check UTC '2026-03-29 Europe/Berlin: starts 0, ends 60 minutes off
2026-10-25 Europe/Berlin: starts 0, ends -60 minutes off
2026-10-04 Australia/Lord_Howe: starts -30, ends 0 minutes off'
check America/New_York '2026-03-29 Europe/Berlin: starts -60, ends 0 minutes off
2026-10-25 Europe/Berlin: starts 60, ends 0 minutes off
2026-10-04 Australia/Lord_Howe: starts -30, ends 0 minutes off'
exit "$failed"
