#!/usr/bin/env bash
# timeZoneOffset and formatDateTime's %z of ClickHouse 26.7 (chdb 3.4.0) in the zones that crossed the date line.
# Guess: toString, toDate, timeZoneOffset and %z of one moment agree in every zone, so that a local time is the moment
# and its offset, and a text with %z can be read by whoever gets it.
# Seen: in Apia, Kiritimati, Kanton, Fakaofo and Kwajalein the clock and the day are right, and the offset is the one
# from before the zone left a day out: 24 hours too small, for moments of today too (Apia at +13 is told as -1100).
# So such a text, read by anything else, is another moment: a day later than the one that was written.
# So write moments in UTC, or take the offset from the difference of the two clocks.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo 'skipped: tried on Linux only'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
timeout 60 node - <<'NODE'
const assert = require('node:assert');
const { query } = require('chdb');
const ask = (sql) => query(sql, 'TabSeparated').trim();
const second = 1_790_000_000;
const told = (zone) => {
  const at = `toDateTime(${second}, '${zone}')`;
  const written = ask(`SELECT formatDateTime(${at}, '%FT%T%z')`);
  return {
    written,
    offset: Number(ask(`SELECT timeZoneOffset(${at})`)),
    'offset by its clock': Number(ask(`SELECT toUnixTimestamp(toDateTime(toString(${at}), 'UTC')) - ${second}`)),
    'clock as Node tells it': new Date(second * 1000).toLocaleString('sv', { timeZone: zone }).replace(' ', 'T') === written.slice(0, 19),
    'hours between what was written and the moment': (Date.parse(written.replace(/(\d\d)$/, ':$1')) / 1000 - second) / 3600,
  };
};
const zones = ['Pacific/Apia', 'Pacific/Kiritimati', 'Pacific/Kanton', 'Pacific/Fakaofo', 'Pacific/Kwajalein', 'Pacific/Tongatapu'];
const seen = { version: ask('SELECT version()'), ...Object.fromEntries(zones.map((zone) => [zone, told(zone)])) };
console.log(seen);
const aDayOff = (written, offset, byClock) => ({
  written,
  offset,
  'offset by its clock': byClock,
  'clock as Node tells it': true,
  'hours between what was written and the moment': (byClock - offset) / 3600,
});
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  'Pacific/Apia': aDayOff('2026-09-22T03:13:20-1100', -39_600, 46_800),
  'Pacific/Kiritimati': aDayOff('2026-09-22T04:13:20-1000', -36_000, 50_400),
  'Pacific/Kanton': aDayOff('2026-09-22T03:13:20-1100', -39_600, 46_800),
  'Pacific/Fakaofo': aDayOff('2026-09-22T03:13:20-1100', -39_600, 46_800),
  'Pacific/Kwajalein': aDayOff('2026-09-22T02:13:20-1200', -43_200, 43_200),
  'Pacific/Tongatapu': aDayOff('2026-09-22T03:13:20+1300', 46_800, 46_800),
});
NODE
