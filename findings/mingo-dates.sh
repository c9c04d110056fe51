#!/usr/bin/env bash
# Days and times with a timezone in mingo 7.2.7 (MongoDB's aggregations over arrays), beside temporal-polyfill 1.0.8.
# Guess: expressions answer as MongoDB's reference says, since that is what the package is for: $dateTrunc gives the
# start of the local day, parts in a timezone are local time of their own day, and a month after 31 January is 28
# February.
# Seen: $dateTrunc takes the day of UTC and gives that day's local start: what happens in Berlin before 02:00 is counted
# for the day before, and in New York late events get a start that is later than they are. $dateFromParts and
# $dateFromString take the offset of the day on which they run, so that half of the year is an hour off. $dateAdd has 3
# March after 31 January, and one local day over a clock change is 24 hours. 1 January 2027 is in week 53 of 2027.
# So group by $dateToString with the timezone, which is right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund mingo@7.2.7 temporal-polyfill@1.0.8 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { aggregate } from 'mingo';
import { Temporal } from 'temporal-polyfill';
const valueOf = (expression) => aggregate([{}], [{ $project: { value: expression } }])[0].value;
const minute = (date) => date.toISOString().slice(0, 16);
const local = (text, timezone) => Temporal.Instant.from(text).toZonedDateTimeISO(timezone);
const known = (time) => minute(new Date(time.epochMilliseconds));
const seen = {};
for (const [timezone, at] of [
  ['Europe/Berlin', '2026-07-01T21:30Z'],
  ['Europe/Berlin', '2026-07-01T22:30Z'],
  ['America/New_York', '2026-07-02T03:30Z'],
]) {
  const date = new Date(at);
  const start = valueOf({ $dateTrunc: { date, unit: 'day', timezone } });
  const text = valueOf({ $dateToString: { date, format: '%Y-%m-%d', timezone } });
  seen[`${timezone} ${at}`] = `${minute(start)}, Temporal ${known(local(at, timezone).startOfDay())}, text ${text}`;
}
const noon = { year: 2026, day: 1, hour: 12, timezone: 'Europe/Berlin' };
const text = { format: '%Y-%m-%d %H:%M', timezone: 'Europe/Berlin' };
const noons = [1, 7].flatMap((month) => [
  valueOf({ $dateFromParts: { ...noon, month } }).getUTCHours(),
  valueOf({ $dateFromString: { ...text, dateString: `2026-0${month}-01 12:00` } }).getUTCHours(),
]);
seen['noon in January and in July'] = new Set(noons).size === 1 ? 'one offset' : 'two offsets';
const summer = { startDate: new Date('2026-03-28T11:00Z'), unit: 'day', amount: 1, timezone: 'Europe/Berlin' };
const nextNoon = known(local('2026-03-28T11:00Z', 'Europe/Berlin').add({ days: 1 }));
seen['a day after noon'] = `${minute(valueOf({ $dateAdd: summer }))}, Temporal ${nextNoon}`;
const january = { startDate: new Date('2026-01-31T00:00Z'), unit: 'month', amount: 1 };
const february = known(local('2026-01-31T00:00Z', 'UTC').add({ months: 1 }));
seen['a month after 31 January'] = `${minute(valueOf({ $dateAdd: january }))}, Temporal ${february}`;
const newYear = new Date('2027-01-01T00:00Z');
const { yearOfWeek, weekOfYear } = Temporal.PlainDate.from('2027-01-01');
const week = `${valueOf({ $isoWeekYear: newYear })}-${valueOf({ $isoWeek: newYear })}`;
seen['week of 1 January 2027'] = `${week}, Temporal ${yearOfWeek}-${weekOfYear}`;
console.log('mingo 7.2.7:', seen);
assert.deepStrictEqual(seen, {
  'Europe/Berlin 2026-07-01T21:30Z': '2026-06-30T22:00, Temporal 2026-06-30T22:00, text 2026-07-01',
  'Europe/Berlin 2026-07-01T22:30Z': '2026-06-30T22:00, Temporal 2026-07-01T22:00, text 2026-07-02',
  'America/New_York 2026-07-02T03:30Z': '2026-07-02T04:00, Temporal 2026-07-01T04:00, text 2026-07-01',
  'noon in January and in July': 'one offset',
  'a day after noon': '2026-03-29T11:00, Temporal 2026-03-29T10:00',
  'a month after 31 January': '2026-03-03T00:00, Temporal 2026-02-28T00:00',
  'week of 1 January 2027': '2027-53, Temporal 2026-53',
});
NODE
timeout 30 node run.mjs
