#!/usr/bin/env bash
# The hours of a day in a zone by eachHourOfInterval of date-fns 4.4.0 with TZDate of @date-fns/tz 1.5.0.
# Guess: on the day on which clocks go back it gives 25 hours, as the zone's day has, whatever the machine's own zone is.
# Seen: it gives 24, and one hour of the night is missing: a machine in UTC leaves out the first 02:00, one in
# Berlin the second. eachMinuteOfInterval with a step of 60 gives all 25.
# So a chart by the hour has no column for events of that hour, or adds them to no column: their sum is less than the day's.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund date-fns@4.4.0 @date-fns/tz@1.5.0 >/dev/null
cat > run.mjs <<'NODE'
import { TZDate } from '@date-fns/tz';
import { eachHourOfInterval, eachMinuteOfInterval, endOfDay, startOfDay } from 'date-fns';
const day = new TZDate('2026-10-25T12:00:00Z', 'Europe/Berlin');
const interval = { start: startOfDay(day), end: endOfDay(day) };
const all = [];
for (let hour = +interval.start; hour <= +interval.end; hour += 3_600_000) all.push(hour);
const hours = eachHourOfInterval(interval).map(Number);
const missing = all.filter((hour) => !hours.includes(hour)).map((hour) => new Date(hour).toISOString().slice(11, 16));
const byMinutes = eachMinuteOfInterval(interval, { step: 60 }).length;
console.log(`${hours.length} of ${all.length} hours, not ${missing} UTC; by minutes ${byMinutes}`);
NODE
failed=0
for expected in 'UTC 24 of 25 hours, not 00:00 UTC; by minutes 25' 'Europe/Berlin 24 of 25 hours, not 01:00 UTC; by minutes 25'; do
  zone=${expected%% *}
  seen=$(TZ=$zone timeout 30 node run.mjs)
  echo "date-fns 4.4.0, machine in $zone, Berlin's 25 October 2026: $seen"
  [ "$zone $seen" = "$expected" ] || failed=1
done
exit "$failed"
