#!/usr/bin/env bash
# Daily and hourly runs on the day of a clock change, as cron 4.4.0, cron-parser 5.10.6 and croner 11.0.1 plan them.
# Guess: on that day a daily run happens once: at its time where the clock shows it, after the gap where it does not. So
# 03:00 in Berlin, which every day has once, is nothing special, in spring or in autumn.
# Seen: cron runs "0 3" twice on the autumn day, first an hour too early, when the clock shows 02:00 for the second time.
# In spring it runs "30 *" at 03:00 in place of 03:30. Where clocks go forward by half an hour (Lord Howe), it runs a job
# of the gap twice, and cron-parser not at all. croner is right in all of these.
# So a daily report by cron goes out twice a year doubled, and by cron-parser may miss a day; dedupe by the local date.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund cron@4.4.0 cron-parser@5.10.6 croner@11.0.1 luxon@3.7.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { CronTime } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
import { DateTime } from 'luxon';
// Each gives the moment of the next run after a moment, in milliseconds.
const planners = {
  cron: (line, zone, after) => new CronTime(`0 ${line}`, zone).getNextDateFrom(DateTime.fromMillis(after, { zone }), zone).toMillis(),
  'cron-parser': (line, tz, after) =>
    CronExpressionParser.parse(line, { tz, currentDate: new Date(after) }).next().toDate().getTime(),
  croner: (line, timezone, after) => new Cron(line, { timezone, paused: true }).nextRun(new Date(after)).getTime(),
};
const cases = {
  'autumn, daily at 3': ['0 3 * * *', 'Europe/Berlin', '2027-10-30T20:00Z', '2027-10-31T20:00Z'],
  'spring, each half past': ['30 * * * *', 'Europe/Berlin', '2027-03-28T00:00Z', '2027-03-28T02:00Z'],
  'half an hour, daily in the gap': ['15 2 * * *', 'Australia/Lord_Howe', '2027-10-02T10:00Z', '2027-10-03T10:00Z'],
};
const seen = {};
for (const [name, [line, zone, from, until]] of Object.entries(cases)) {
  seen[name] = {};
  for (const [planner, next] of Object.entries(planners)) {
    const runs = [];
    for (let at = next(line, zone, Date.parse(from)); at < Date.parse(until); at = next(line, zone, at))
      runs.push(`${new Date(at).toISOString().slice(11, 16)} (${DateTime.fromMillis(at, { zone }).toFormat('HH:mm')})`);
    seen[name][planner] = runs;
  }
}
console.log('cron 4.4.0, cron-parser 5.10.6, croner 11.0.1, runs in UTC (on the clock):', seen);
assert.deepStrictEqual(seen, {
  'autumn, daily at 3': {
    cron: ['01:00 (02:00)', '02:00 (03:00)'],
    'cron-parser': ['02:00 (03:00)'],
    croner: ['02:00 (03:00)'],
  },
  'spring, each half past': {
    cron: ['00:30 (01:30)', '01:00 (03:00)', '01:30 (03:30)'],
    'cron-parser': ['00:30 (01:30)', '01:30 (03:30)'],
    croner: ['00:30 (01:30)', '01:30 (03:30)'],
  },
  'half an hour, daily in the gap': {
    cron: ['15:15 (01:45)', '15:45 (02:45)'],
    'cron-parser': [],
    croner: ['15:30 (02:30)'],
  },
});
NODE
timeout 60 node run.mjs
