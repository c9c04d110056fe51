#!/usr/bin/env bash
# UUIDs and times in BSON between ClickHouse 26.7 (chdb 3.4.0, BSONEachRow) and the package bson 7.3.4.
# Guess: BSON has a subtype for UUIDs, 16 bytes in the order of the text, and a type for times, milliseconds since 1970;
# so an id and a time of either side are the same on the other, whatever scale the column has.
# Seen: ClickHouse turns the bytes of each half around, both ways: every id is another one for the reader. And the
# number of a DateTime64 goes as it is: microseconds are read as milliseconds, in the year 58468, and a time of bson is
# in January 1970 in a column of microseconds. ClickHouse reads its own files right, so that its own tests see nothing.
# So exchange ids as text, and times as DateTime64(3).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 bson@7.3.4 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { readFileSync, writeFileSync } = require('node:fs');
const { deserialize, serialize, UUID } = require('bson');
const { query } = require('chdb');
const ask = (sql) => query(sql, 'TabSeparated').trim().split('\t');
const id = '61f0c404-5cb3-11e7-907b-a6006ad3dba0';
const at = '2026-07-01T12:00:00.123Z';
const columns = `id UUID, millis DateTime64(3, 'UTC'), micros DateTime64(6, 'UTC')`;
const read = (file) => {
  return ask(`SELECT * FROM file('${process.cwd()}/${file}', 'BSONEachRow', '${columns.replaceAll("'", "\\'")}')`);
};
const time = "'2026-07-01 12:00:00.123'";
query(`INSERT INTO FUNCTION file('${process.cwd()}/clickhouse.bson', 'BSONEachRow')
  SELECT toUUID('${id}') AS id, toDateTime64(${time}, 3, 'UTC') AS millis, toDateTime64(${time}, 6, 'UTC') AS micros`);
const row = deserialize(readFileSync('clickhouse.bson'));
writeFileSync('bson.bson', serialize({ id: new UUID(id), millis: new Date(at), micros: new Date(at) }));
const seen = {
  version: ask('SELECT version()')[0],
  'ClickHouse to itself': read('clickhouse.bson'),
  'ClickHouse to bson': [row.id.toString(), row.millis.toISOString(), row.micros.getUTCFullYear()],
  'bson to ClickHouse': read('bson.bson'),
};
console.log('an id, milliseconds, microseconds:', id, at, seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  'ClickHouse to itself': [id, '2026-07-01 12:00:00.123', '2026-07-01 12:00:00.123000'],
  'ClickHouse to bson': ['e711b35c-04c4-f061-a0db-d36a00a67b90', at, 58468],
  'bson to ClickHouse': [
    'e711b35c-04c4-f061-a0db-d36a00a67b90',
    '2026-07-01 12:00:00.123',
    '1970-01-21 15:15:07.200123',
  ],
});
NODE
timeout 60 node run.cjs
