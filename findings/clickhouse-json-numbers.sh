#!/usr/bin/env bash
# Numbers of JSON that do not fit the column that takes them, inserted as JSONEachRow into ClickHouse 26.7 (chdb 3.4.0).
# Guess: each is an error, as -1 and 1.9 are for UInt8; and seconds since 1970 are the moment in Date, DateTime and
# DateTime64 alike.
# Seen: what is too large is wrapped without a word: 300 is 44 in UInt8, 2^64 is 0 in UInt64. Seconds are right in DateTime
# alone: DateTime64(3) takes the number for milliseconds, January 1970, and milliseconds in DateTime are February 2106.
# null is 0, "" or 1970, in columns that hold no null. An empty text is the number 0 for UInt8 and an error for Float64.
# So counts and ids of clients are bounded before they are sent on, and times go as text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { Session } = require('chdb');
const session = new Session('./data');
const ask = (sql) => session.query(sql, 'TabSeparated').trim();
ask('CREATE DATABASE d');
const stored = (type, json) => {
  ask(`CREATE OR REPLACE TABLE d.events (value ${type}) ENGINE = MergeTree ORDER BY tuple()`);
  try {
    ask(`INSERT INTO d.events FORMAT JSONEachRow {"value":${json}}`);
    return ask('SELECT value FROM d.events');
  } catch (error) {
    return /Code: \d+/.exec(String(error.message))?.[0];
  }
};
const expected = {
  'UInt8 300': '44',
  'UInt8 -1': 'Code: 72',
  'UInt8 1.9': 'Code: 27',
  'UInt64 18446744073709551616': '0',
  'DateTime 1767225600': '2026-01-01 00:00:00',
  'DateTime64(3) 1767225600': '1970-01-21 10:53:45.600',
  'DateTime 1767225600123': '2106-02-07 06:28:15',
  'DateTime64(3) 1767225600123': '2026-01-01 00:00:00.123',
  'Float64 null': '0',
  'DateTime null': '1970-01-01 00:00:00',
  'UInt8 ""': '0',
  'Float64 ""': 'Code: 72',
};
const seen = {};
for (const key of Object.keys(expected)) seen[key] = stored(...key.split(' '));
console.log('ClickHouse', ask('SELECT version()'), seen);
session.cleanup();
assert.deepStrictEqual(seen, expected);
NODE
TZ=UTC timeout 60 node run.cjs
