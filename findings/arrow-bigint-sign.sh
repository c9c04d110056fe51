#!/usr/bin/env bash
# BigInts of 2^63 and more, as half of all 64-bit hashes are, in tables that apache-arrow 21.2.0 makes from JavaScript's values.
# Guess: the column becomes Uint64, or the value that does not fit Int64 is an error.
# Seen: tableFromArrays and tableFromJSON make Int64 of BigInts whatever they are: 18446744073709551615 is -1, without a
# word. A vector that is told Uint64 keeps it.
# So ids that are hashes join with nothing that another program wrote: name the type (vectorFromArray(ids, new Uint64())).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund apache-arrow@21.2.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { Table, tableFromArrays, tableFromIPC, tableFromJSON, tableToIPC, Uint64, vectorFromArray } from 'apache-arrow';
const ids = [1n, 9223372036854775808n, 18446744073709551615n];
const read = (table) => {
  const column = tableFromIPC(tableToIPC(table)).getChild('id');
  return `${column.type}: ${[...column].join(', ')}`;
};
const seen = {
  tableFromArrays: read(tableFromArrays({ id: ids })),
  tableFromJSON: read(tableFromJSON(ids.map((id) => ({ id })))),
  'vectorFromArray(ids, new Uint64())': read(new Table({ id: vectorFromArray(ids, new Uint64()) })),
};
console.log('apache-arrow 21.2.0:', seen);
assert.deepStrictEqual(seen, {
  tableFromArrays: 'Int64: 1, -9223372036854775808, -1',
  tableFromJSON: 'Int64: 1, -9223372036854775808, -1',
  'vectorFromArray(ids, new Uint64())': 'Uint64: 1, 9223372036854775808, 18446744073709551615',
});
NODE
timeout 30 node run.mjs
