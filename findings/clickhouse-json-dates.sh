#!/usr/bin/env bash
# Texts in a column of ClickHouse's type JSON (26.7, chdb 3.4.0), inserted as JSONEachRow and read again.
# Guess: what was sent as a string is a string: the type keeps JSON, and only columns that are declared as dates parse them.
# Seen: each text that looks like a date is stored as one, and comes back in ClickHouse's form: a zone is gone, a midnight is
# added, 01/02/2026 is 1 February, and 30 February is 2 March: the text that was sent is nowhere. Which form depends on the
# row before: below a row with a time, half a second is dropped, and 31 December 1969 is 1 January 1970.
# So properties of events come back as others than were sent, and compare with none: insert with
# input_format_try_infer_dates = 0 and input_format_try_infer_datetimes = 0.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { Session } = require('chdb');
const session = new Session('./data');
const ask = (sql) => session.query(sql, 'TabSeparatedRaw').trim();
ask('CREATE DATABASE d');
ask('CREATE TABLE d.events (place UInt8, properties JSON) ENGINE = MergeTree ORDER BY place');
const stored = (texts, settings = 'async_insert = 0') => {
  ask('TRUNCATE TABLE d.events');
  const rows = texts.map((text, place) => JSON.stringify({ place, properties: { at: text } }));
  ask(`INSERT INTO d.events SETTINGS ${settings} FORMAT JSONEachRow ${rows.join('\n')}`);
  return ask('SELECT properties FROM d.events ORDER BY place').split('\n').map((line) => JSON.parse(line).at);
};
const alone = {
  '2026-01-01T10:00:00+02:00': '2026-01-01 08:00:00',
  '2026-01-01 10:00:00.5': '2026-01-01 10:00:00.500000000',
  '1969-12-31': '1969-12-31 00:00:00.000000000',
  '2026/01/02': '2026-01-02',
  '01/02/2026': '2026-02-01 00:00:00',
  '2026-02-30': '2026-03-02',
  '10:30': '10:30',
  '1.2.3': '1.2.3',
};
const texts = Object.keys(alone);
const belowTime = { '2026-01-01 10:00:00.5': '2026-01-01 10:00:00', '1969-12-31': '1970-01-01 00:00:00' };
const seen = {
  alone: Object.fromEntries(texts.map((text) => [text, stored([text])[0]])),
  'below a row with a time': Object.fromEntries(
    Object.keys(belowTime).map((text) => [text, stored(['2026-01-01 10:00:00', text])[1]]),
  ),
};
const asSent = stored(texts, 'input_format_try_infer_dates = 0, input_format_try_infer_datetimes = 0');
console.log('ClickHouse', ask('SELECT version()'), seen);
session.cleanup();
assert.deepStrictEqual(seen, { alone, 'below a row with a time': belowTime });
assert.deepStrictEqual(asSent, texts);
NODE
TZ=UTC timeout 90 node run.cjs
