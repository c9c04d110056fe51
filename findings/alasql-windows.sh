#!/usr/bin/env bash
# Window functions, joins and quartiles of alasql 4.19.1 on events in an array, beside DuckDB 1.5.6 on the same rows.
# Guess: what it takes of SQL it does as SQL does, and what it cannot do is an error, as RANK() and LAG() are.
# Seen: ORDER BY within OVER is taken and ignored: a running sum is the total, and ROW_NUMBER() counts rows in the order
# of the array and starts again whenever the user changes. NULL joins NULL, and NOT (user = 'a') finds it. The second
# quartile of 1, 2, 3, 4 is 3, where MEDIAN() has 2.5, and the sum of no rows is 0.
# So "the first event of each user" (WHERE number = 1) has all events here: sort the array before, and count rows by
# one's own code.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund alasql@4.19.1 @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DuckDBInstance } from '@duckdb/node-api';
import alasql from 'alasql';
const rows = [
  { person: 'a', second: 3 },
  { person: 'b', second: 1 },
  { person: 'a', second: 2 },
  { person: null, second: 4 },
  { person: 'b', second: 5 },
];
const connection = await (await DuckDBInstance.create()).connect();
const values = rows.map(({ person, second }) => `(${person ? `'${person}'` : 'NULL'}, ${second})`);
await connection.run(`CREATE TABLE events AS SELECT * FROM (VALUES ${values}) AS v(person, second)`);
const numbered = 'SELECT person, ROW_NUMBER() OVER (PARTITION BY person ORDER BY second) AS number FROM events';
const questions = {
  'running sum': 'SELECT second, SUM(second) OVER (ORDER BY second) AS s FROM events ORDER BY second',
  'first events': `SELECT COUNT(*) AS n FROM (${numbered}) AS numbered WHERE number = 1`,
  'pairs of a join': 'SELECT COUNT(*) AS n FROM events AS e JOIN events AS f ON e.person = f.person',
  "NOT (person = 'a')": "SELECT COUNT(*) AS n FROM events WHERE NOT (person = 'a')",
  'sum of no rows': 'SELECT SUM(second) AS s FROM events WHERE second > 9',
};
alasql('CREATE TABLE events (person STRING, second INT)');
alasql.tables.events.data = rows;
const seen = {};
for (const [name, sql] of Object.entries(questions)) {
  const known = (await connection.runAndReadAll(sql)).getRowsJson().map((row) => row.at(-1) && Number(row.at(-1)));
  const own = alasql(sql).map((row) => Object.values(row).at(-1));
  seen[name] = `${own.join(' ')}, DuckDB ${known.map(String).join(' ')}`;
}
const [quartile] = alasql('SELECT QUART2(second) AS half, MEDIAN(second) AS median FROM events WHERE second < 5');
seen['quartile and median of 1, 2, 3, 4'] = `${quartile.half} ${quartile.median}`;
for (const name of ['RANK()', 'LAG(second)']) {
  assert.throws(() => alasql(`SELECT ${name} OVER (ORDER BY second) FROM events`));
}
console.log('alasql 4.19.1:', seen);
assert.deepStrictEqual(seen, {
  'running sum': '15 15 15 15 15, DuckDB 1 3 6 10 15',
  'first events': '5, DuckDB 3',
  'pairs of a join': '9, DuckDB 8',
  "NOT (person = 'a')": '3, DuckDB 2',
  'sum of no rows': '0, DuckDB null',
  'quartile and median of 1, 2, 3, 4': '3 2.5',
});
NODE
timeout 30 node run.mjs
