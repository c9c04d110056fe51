#!/usr/bin/env bash
# JavaScript's Dates and 64-bit integers in @electric-sql/pglite 0.5.17 on a machine in Berlin.
# Guess: a Date that is stored comes back as the same moment, in a timestamp without a zone too, as node-postgres has it
# (local time both ways); an int8 has one type in JavaScript for the whole column, text or BigInt.
# Seen: in a timestamp without a zone a Date is written as UTC and read as local time: it comes back two hours earlier,
# and each reading and writing moves it again. A timestamptz keeps the moment. An int8 is a number up to 2^53 and a
# BigInt above, row by row, so that a sum over the rows throws with the first large id.
# So make columns timestamptz, and give `parsers` for int8; a machine in UTC shows nothing of the first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { PGlite, types } from '@electric-sql/pglite';
const database = new PGlite();
await database.exec('CREATE TABLE events (plain timestamp, zoned timestamptz, id int8)');
const written = new Date('2026-07-01T12:00:00Z');
let at = written;
const seen = {};
for (const turn of ['first', 'second']) {
  await database.query('INSERT INTO events VALUES ($1, $2, 1)', [at, written]);
  const { rows } = await database.query('SELECT plain, plain::text AS text, zoned FROM events ORDER BY plain LIMIT 1');
  const [row] = rows;
  seen[`${turn} turn`] = [row.text, row.plain.toISOString(), row.zoned.toISOString()];
  at = row.plain;
}
await database.exec('DELETE FROM events');
await database.exec("INSERT INTO events (id) VALUES (7), (9007199254740993)");
const { rows } = await database.query('SELECT id FROM events ORDER BY id');
seen.ids = rows.map(({ id }) => `${typeof id} ${id}`);
try {
  seen.sum = rows.reduce((sum, { id }) => sum + id, 0);
} catch (error) {
  seen.sum = error.name;
}
await database.close();
const exact = new PGlite({ parsers: { [types.INT8]: (text) => BigInt(text) } });
seen.parsers = Object.values((await exact.query('SELECT 7::int8 AS small, 9007199254740993::int8 AS large')).rows[0]);
await exact.close();
console.log(`@electric-sql/pglite 0.5.17, ${written.toISOString()} as text, from timestamp, from timestamptz:`, seen);
assert.deepStrictEqual(seen, {
  'first turn': ['2026-07-01 12:00:00', '2026-07-01T10:00:00.000Z', '2026-07-01T12:00:00.000Z'],
  'second turn': ['2026-07-01 10:00:00', '2026-07-01T08:00:00.000Z', '2026-07-01T12:00:00.000Z'],
  ids: ['number 7', 'bigint 9007199254740993'],
  sum: 'TypeError',
  parsers: [7n, 9007199254740993n],
});
NODE
TZ=Europe/Berlin timeout 90 node run.mjs
