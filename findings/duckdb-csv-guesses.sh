#!/usr/bin/env bash
# Columns of an export in CSV that DuckDB 1.5.6 reads without a schema.
# Guess: versions like 2.10.14 stay text; a date that can be read in two ways stays text or is the same for all files; an
# unsigned 64-bit id, which half of all hashes are, becomes UBIGINT or HUGEINT, as it does from JSON.
# Seen: versions of an app that can be a day, a month and a year are dates: 2.10.14 is 2 October 2014, and 2.11.0 below it is
# in 2000. 01/02/2026 is 2 January in a file that has a 31st, and 1 February in the file of a week before. One id above 2^63
# makes all ids DOUBLE, and they change above 2^53.
# So reports by version, by day and by user are wrong without an error: name the types (`types = {...}`) of an import.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { writeFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
const connection = await (await DuckDBInstance.create()).connect();
const read = async (...values) => {
  const file = `${values.join('-').replaceAll(/\W/g, '')}.${values[0].startsWith('{') ? 'json' : 'csv'}`;
  writeFileSync(file, [...(file.endsWith('csv') ? ['value'] : []), ...values].join('\n'));
  const reader = await connection.runAndReadAll(`SELECT value::VARCHAR, typeof(value) FROM '${file}'`);
  const rows = reader.getRows();
  return `${rows[0][1]}: ${rows.map(([value]) => value).join(', ')}`;
};
const seen = {
  versions: await read('2.10.14', '2.11.0'),
  'versions, lower': await read('1.2.3', '1.3.0'),
  'US dates of a week': await read('01/02/2026', '01/08/2026'),
  'US dates of a month': await read('01/02/2026', '01/31/2026'),
  'ids below 2^63': await read('9007199254740993', '1234567890123456789'),
  'ids to 2^64': await read('9007199254740993', '18446744073709551615'),
  'ids to 2^64 in JSON': await read('{"value":9007199254740993}', '{"value":18446744073709551615}'),
};
console.log('DuckDB 1.5.6:', seen);
assert.deepStrictEqual(seen, {
  versions: 'DATE: 2014-10-02, 2000-11-02',
  'versions, lower': 'VARCHAR: 1.2.3, 1.3.0',
  'US dates of a week': 'DATE: 2026-02-01, 2026-08-01',
  'US dates of a month': 'DATE: 2026-01-02, 2026-01-31',
  'ids below 2^63': 'BIGINT: 9007199254740993, 1234567890123456789',
  'ids to 2^64': 'DOUBLE: 9007199254740992.0, 1.8446744073709552e+19',
  'ids to 2^64 in JSON': 'HUGEINT: 9007199254740993, 18446744073709551615',
});
process.exit();
NODE
timeout 60 node run.mjs
