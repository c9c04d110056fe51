#!/usr/bin/env bash
# Days without events that complete() and fullSeqDate() of @tidyjs/tidy 2.6.1 add to counts by day.
# Guess: days that are there keep their counts, and those between get the value that is given (0), for midnights of the
# machine's zone as for those of UTC, and for days as texts by fullSeqDateISOString().
# Seen: the sequence goes on by 24 hours, and what is not one of its moments is dropped: from the day after the clock
# change in Berlin on each count is 0, and the last day is gone. Days as texts, 2026-03-27, meet texts with a time, so
# that all counts are 0. Midnights of UTC, and texts of toISOString(), are right.
# So a chart falls to zero at the end of March, without a word: give it midnights of UTC.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @tidyjs/tidy@2.6.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { complete, fullSeqDate, fullSeqDateISOString, tidy } from '@tidyjs/tidy';
const dates = [26, 27, 28, 29, 30, 31];
const filled = (days, sequence) => {
  const counts = days.map((day) => ({ day, count: 5 })).filter((_row, index) => index !== 1);
  return tidy(counts, complete({ day: sequence('day', 'day', 1) }, { count: 0 })).map(({ count }) => count);
};
const utc = dates.map((date) => new Date(Date.UTC(2026, 2, date)));
const seen = {
  'midnights of UTC': filled(utc, fullSeqDate),
  'midnights of Berlin': filled(dates.map((date) => new Date(2026, 2, date)), fullSeqDate),
  'texts of toISOString()': filled(utc.map((day) => day.toISOString()), fullSeqDateISOString),
  'days as texts': filled(utc.map((day) => day.toISOString().slice(0, 10)), fullSeqDateISOString),
};
console.log('counts of 26 to 31 March 2026, 5 on each day but the 27th:', seen);
assert.deepStrictEqual(seen, {
  'midnights of UTC': [5, 0, 5, 5, 5, 5],
  'midnights of Berlin': [5, 0, 5, 5, 0],
  'texts of toISOString()': [5, 0, 5, 5, 5, 5],
  'days as texts': [0, 0, 0, 0, 0, 0],
});
NODE
TZ=Europe/Berlin timeout 30 node run.mjs
