#!/usr/bin/env bash
# The hour that a clock shows twice, in @duckdb/node-api 1.5.6-r.1: TIMESTAMPTZ in Berlin, New York and Lord Howe.
# Guess: a TIMESTAMPTZ is a moment, so date_trunc('hour') goes back to a whole hour before it and keeps the two hours
# apart, as date_trunc('minute') does; and date_diff('hour') of two moments an hour apart is 1.
# Seen: date_trunc('hour') gives the second hour for both, for the first one a time later than the event itself; on Lord
# Howe, which goes back by half an hour, the first for both. date_diff('hour') over an hour is 2, then 0.
# So a chart by the hour has an empty column and a double one on that night, and a sum of date_diff is right only by the
# day: take time_bucket(INTERVAL 1 HOUR, moment, zone), which keeps the hours apart.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
/** Moments as epoch seconds, shown as ISO texts in UTC. */
const query = async (text) => (await connection.runAndReadAll(text)).getRows()[0];
const iso = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16);
const nights = {
  'Europe/Berlin': ['2026-10-25 02:30:00+02', '2026-10-25 02:30:00+01'],
  'America/New_York': ['2026-11-01 01:30:00-04', '2026-11-01 01:30:00-05'],
  'Australia/Lord_Howe': ['2026-04-05 01:45:00+11', '2026-04-05 01:45:00+10:30'],
};
const seen = {};
for (const [zone, moments] of Object.entries(nights)) {
  await connection.run(`set timezone = '${zone}'`);
  for (const moment of moments) {
    const columns = [
      't',
      "date_trunc('hour', t)",
      "date_trunc('minute', t)",
      `time_bucket(interval 1 hour, t, '${zone}')`,
    ].map((one) => `epoch(${one})`);
    const [at, hour, minute, bucket] = await query(`select ${columns} from (select timestamptz '${moment}' t)`);
    assert.strictEqual(minute, at);
    seen[`${zone}, ${iso(at)}Z`] = `hour ${iso(hour)}Z, bucket ${iso(bucket)}Z`;
  }
}
await connection.run("set timezone = 'Europe/Berlin'");
const hours = await query(`select
  date_diff('hour', timestamptz '2026-10-24 23:30:00+00', timestamptz '2026-10-25 00:30:00+00')::int,
  date_diff('hour', timestamptz '2026-10-25 00:30:00+00', timestamptz '2026-10-25 01:30:00+00')::int`);
console.log('@duckdb/node-api 1.5.6-r.1:', seen, 'hours between moments an hour apart:', hours);
assert.deepStrictEqual(seen, {
  'Europe/Berlin, 2026-10-25T00:30Z': 'hour 2026-10-25T01:00Z, bucket 2026-10-25T00:00Z',
  'Europe/Berlin, 2026-10-25T01:30Z': 'hour 2026-10-25T01:00Z, bucket 2026-10-25T01:00Z',
  'America/New_York, 2026-11-01T05:30Z': 'hour 2026-11-01T06:00Z, bucket 2026-11-01T05:00Z',
  'America/New_York, 2026-11-01T06:30Z': 'hour 2026-11-01T06:00Z, bucket 2026-11-01T06:00Z',
  'Australia/Lord_Howe, 2026-04-04T14:45Z': 'hour 2026-04-04T14:00Z, bucket 2026-04-04T14:00Z',
  'Australia/Lord_Howe, 2026-04-04T15:15Z': 'hour 2026-04-04T14:00Z, bucket 2026-04-04T15:00Z',
});
assert.deepStrictEqual(hours, [2, 0]);
NODE
timeout 60 node run.mjs
