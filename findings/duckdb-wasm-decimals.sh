#!/usr/bin/env bash
# Amounts and sums that @duckdb/duckdb-wasm 1.32.0 (DuckDB 1.4.3) gives to JavaScript with its own Arrow reader.
# Guess: a DECIMAL is its value as a number or a text, as in DuckDB's other clients, and a sum of integers is a BigInt
# as a count is.
# Seen: a DECIMAL is an object that turns into the number without its point: 12.34 is 1234 by Number() and by String(),
# and so is the literal 1.5, which is 15; in JSON it is a text with quotes of its own. A sum of integers is such an
# object too: right by Number(), but `sum + 1` of 6 is the text "61". An average is a number.
# So revenue is a hundred times too large without a word: open the database with `query: { castDecimalToDouble: true }`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund @duckdb/duckdb-wasm@1.32.0 apache-arrow@17.0.0 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { dirname, join } = require('node:path');
const duckdb = require('@duckdb/duckdb-wasm/blocking');
const folder = dirname(require.resolve('@duckdb/duckdb-wasm'));
const bundle = (name) => ({ mainModule: join(folder, `duckdb-${name}.wasm`), mainWorker: '' });
const statements = {
  amount: 'SELECT 12.34::DECIMAL(10, 2) AS value',
  literal: 'SELECT 1.5 AS value',
  revenue: 'SELECT sum(amount) AS value FROM (VALUES (1.25), (2.25)) AS orders(amount)',
  average: 'SELECT avg(amount) AS value FROM (VALUES (1.25), (2.25)) AS orders(amount)',
  'sum of integers': 'SELECT sum(amount) AS value FROM (VALUES (1), (2), (3)) AS orders(amount)',
};
const answers = async (options) => {
  const bundles = { mvp: bundle('mvp'), eh: bundle('eh') };
  const database = await duckdb.createDuckDB(bundles, new duckdb.VoidLogger(), duckdb.NODE_RUNTIME);
  await database.instantiate(() => {});
  database.open(options);
  const connection = database.connect();
  const ask = ([name, sql]) => {
    const { value } = connection.query(sql).get(0);
    return [name, [Number(value), String(value), JSON.stringify(value), value + 1]];
  };
  return Object.fromEntries(Object.entries(statements).map(ask));
};
(async () => {
  const seen = await answers({});
  console.log('@duckdb/duckdb-wasm 1.32.0, by Number(), String(), JSON, + 1:', seen);
  assert.deepStrictEqual(seen, {
    amount: [1234, '1234', String.raw`"\"1234\""`, '12341'],
    literal: [15, '15', String.raw`"\"15\""`, '151'],
    revenue: [350, '350', String.raw`"\"350\""`, '3501'],
    average: [1.75, '1.75', '1.75', 2.75],
    'sum of integers': [6, '6', String.raw`"\"6\""`, '61'],
  });
  const cast = await answers({ query: { castDecimalToDouble: true } });
  assert.deepStrictEqual(Object.values(cast).map(([number]) => number), [12.34, 1.5, 3.5, 1.75, 6]);
})();
NODE
timeout 60 node run.cjs
