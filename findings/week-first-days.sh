#!/usr/bin/env bash
# The day on which a week begins: locales of date-fns 4.4.0, dayjs 1.11.23 and @internationalized/date 3.12.4 beside
# CLDR, by Intl.Locale of the machine's Node (seen with 20.20.2).
# Guess: the libraries' locales are made of CLDR's data or checked against it, so that they differ in a few small
# places.
# Seen: 14 of 95 locales of date-fns and 30 of 137 of dayjs begin their week on another day, large ones among them:
# weeks of Indonesia, of India in English and of Portugal (dayjs) begin on Monday, where CLDR has Sunday; Taiwan's do in
# date-fns and not in dayjs; Egypt's begin on Sunday in date-fns, on Saturday in dayjs and CLDR.
# So a calendar by one library and a report by Intl or by another disagree on the week: set the first day in one place.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund date-fns@4.4.0 dayjs@1.11.23 @internationalized/date@3.12.4 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseDate, startOfWeek as startOfWeekIntl } from '@internationalized/date';
import { startOfWeek } from 'date-fns';
import * as locales from 'date-fns/locale';
import dayjs from 'dayjs';
const require = createRequire(import.meta.url);
const cldrDay = (tag) => {
  const locale = new Intl.Locale(tag);
  return (locale.getWeekInfo?.() ?? locale.weekInfo).firstDay % 7;
};
const tagOf = (name) => name.replace(/-([a-z]{2})$/, (all, region) => `-${region.toUpperCase()}`);
const ofDateFns = new Map(Object.values(locales).filter(({ code }) => code).map((locale) => [locale.code, locale]));
const wednesday = new Date(2026, 6, 15, 12);
const daysOf = {
  'date-fns': (tag, name) => startOfWeek(wednesday, { locale: ofDateFns.get(name) }).getDay(),
  dayjs: (tag, name) => {
    require(`dayjs/locale/${name.toLowerCase()}`);
    return dayjs(wednesday).locale(name.toLowerCase()).startOf('week').day();
  },
  '@internationalized/date': (tag) => startOfWeekIntl(parseDate('2026-07-15'), tag).toDate('UTC').getUTCDay(),
  cldr: (tag) => cldrDay(tag),
};
const seen = {};
for (const [tag, fns, day] of [
  ['id-ID', 'id', 'id'], ['en-IN', 'en-IN', 'en-in'], ['pt-PT', 'pt', 'pt'],
  ['zh-TW', 'zh-TW', 'zh-tw'], ['ar-EG', 'ar-EG', 'ar'], ['de-DE', 'de', 'de'],
]) {
  seen[tag] = Object.entries(daysOf).map(([library, dayOf]) => dayOf(tag, library === 'dayjs' ? day : fns));
}
const others = [...ofDateFns].filter(([code, { options }]) => options.weekStartsOn !== cldrDay(code)).map(([code]) => code);
const files = readdirSync('node_modules/dayjs/locale').filter((name) => /^[a-z]{2,3}(-[a-z]{2})?\.js$/.test(name))
  .map((name) => name.slice(0, -3));
const othersOfDayjs = files.filter((name) => (require(`dayjs/locale/${name}`).weekStart ?? 0) % 7 !== cldrDay(tagOf(name)));
console.log('first day of the week (0 is Sunday) by', Object.keys(daysOf).join(', '), seen);
console.log(`date-fns, other than CLDR: ${others.length} of ${ofDateFns.size}:`, others.join(' '));
console.log(`dayjs, other than CLDR: ${othersOfDayjs.length} of ${files.length}:`, othersOfDayjs.join(' '));
assert.deepStrictEqual(seen, {
  'id-ID': [1, 1, 0, 0],
  'en-IN': [1, 1, 0, 0],
  'pt-PT': [0, 1, 0, 0],
  'zh-TW': [1, 0, 0, 0],
  'ar-EG': [0, 6, 6, 6],
  'de-DE': [1, 1, 1, 1],
});
assert(others.length >= 10 && othersOfDayjs.length >= 20);
NODE
timeout 30 node run.mjs
