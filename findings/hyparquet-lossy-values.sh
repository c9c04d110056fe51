#!/usr/bin/env bash
# Values of a Parquet file of DuckDB 1.5.6 as hyparquet 1.33.0 gives them.
# Guess: bytes that the file does not call text come as Uint8Array, and a decimal keeps its digits, as a text or a BigInt,
# as the 64-bit integers of the same file do.
# Seen: a BLOB comes as a text, in which each byte that is no UTF-8 is U+FFFD, so that hashes and sketches are lost; only
# { utf8: false } gives bytes. Each DECIMAL comes as a number: an amount of 18 digits changes, without a word. One column of
# intervals raises an error for the whole read, whatever else was asked for.
# So exports that are read in a browser have decimals cast to text, and bytes as hex or base64.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 hyparquet@1.33.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { DuckDBInstance } from '@duckdb/node-api';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
const connection = await (await DuckDBInstance.create()).connect();
const read = async (columns, options) => {
  await connection.run(`copy (select ${columns}) to 'values.parquet'`);
  const [row] = await parquetReadObjects({ file: await asyncBufferFromFile('values.parquet'), ...options });
  return row;
};
const columns = `'\\x0A\\xFF\\xFE'::blob as hash, 'ü' as name,
  9007199254740993::bigint as id, 1234567890123456.78::decimal(18, 2) as amount`;
const [seen, withBytes] = [await read(columns), await read(columns, { utf8: false })];
console.log('hyparquet 1.33.0:', seen, 'and with { utf8: false }:', withBytes);
assert.deepStrictEqual(seen, {
  hash: '\n\uFFFD\uFFFD',
  name: 'ü',
  id: 9007199254740993n,
  amount: 1234567890123456.8,
});
assert.deepStrictEqual([...withBytes.hash], [10, 255, 254]);
assert.strictEqual(withBytes.name, 'ü');
await assert.rejects(read("interval '1 day' as term, 1 as id"), /interval not supported/);
NODE
timeout 60 node run.mjs
