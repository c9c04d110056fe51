#!/usr/bin/env bash
# tableFromJSON of apache-arrow 21.2.0 on objects of which some lack a property.
# Guess: the missing property is null in the table, as it is where a row says null.
# Seen: it is a value that nobody sent: "" among strings, false among booleans, NaN among numbers, and the column counts
# no nulls; among dates and BigInts the table is not made at all: TypeError. Only a null that is written out is null.
# So each row is given all columns, with null, before it becomes Arrow; or the shares of false and of "" are wrong.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund apache-arrow@21.2.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { tableFromIPC, tableFromJSON, tableToIPC } from 'apache-arrow';
const values = { string: 'yes', boolean: true, number: 5, date: new Date(0), bigint: 5n };
const columnOf = (rows) => {
  try {
    const column = tableFromIPC(tableToIPC(tableFromJSON(rows))).getChild('value');
    return { second: column.get(1), nulls: column.nullCount };
  } catch (error) {
    return error.name;
  }
};
const seen = {};
for (const [kind, value] of Object.entries(values)) {
  seen[kind] = {
    missing: columnOf([{ id: 1, value }, { id: 2 }]),
    null: columnOf([{ id: 1, value }, { id: 2, value: null }]),
  };
}
console.log('apache-arrow 21.2.0, the second of two values:', seen);
const isNull = { second: null, nulls: 1 };
assert.deepStrictEqual(seen, {
  string: { missing: { second: '', nulls: 0 }, null: isNull },
  boolean: { missing: { second: false, nulls: 0 }, null: isNull },
  number: { missing: { second: Number.NaN, nulls: 0 }, null: isNull },
  date: { missing: 'TypeError', null: isNull },
  bigint: { missing: 'TypeError', null: isNull },
});
NODE
timeout 30 node run.mjs
