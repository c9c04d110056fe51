#!/usr/bin/env bash
# concat() of apache-arrow 21.2.0 on tables with the same columns in another order, as two writers of one export have them.
# Guess: columns are joined by their names, or the schemas are compared and another order is an error.
# Seen: by position, under the first table's names: revenue gets the visits of the second table, and its sum is wrong without
# a word. Where texts come below numbers, rows have the texts and the column has their places in the dictionary: 0, 1. A
# column that only the second table has is lost.
# Tables with texts, joined in the right order, cannot be written as a file: an error about dictionaries.
# So tables are brought into one order by select(names) before they are joined, and their types are compared.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund apache-arrow@21.2.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { tableFromArrays, tableToIPC } from 'apache-arrow';
const rows = (table) => table.toArray().map((row) => ({ ...row }));
const monday = tableFromArrays({ visits: Float64Array.of(1_000), revenue: Float64Array.of(30) });
const tuesday = tableFromArrays({ revenue: Float64Array.of(40), visits: Float64Array.of(2_000) });
const named = tableFromArrays({ visits: ['few', 'many'], revenue: Float64Array.of(50, 51) });
const wider = tableFromArrays({ visits: Float64Array.of(3_000), revenue: Float64Array.of(60), refunds: Float64Array.of(7) });
const pages = ['home', 'cart'].map((page) => tableFromArrays({ page: [page] }));
const seen = {
  order: rows(monday.concat(tuesday)),
  selected: rows(monday.concat(tuesday.select(['visits', 'revenue']))),
  type: [rows(monday.concat(named)).map(({ visits }) => visits), [...monday.concat(named).getChild('visits')]],
  wider: rows(monday.concat(wider)),
};
console.log('apache-arrow 21.2.0:', seen);
assert.deepStrictEqual(seen, {
  order: [{ visits: 1_000, revenue: 30 }, { visits: 40, revenue: 2_000 }],
  selected: [{ visits: 1_000, revenue: 30 }, { visits: 2_000, revenue: 40 }],
  type: [[1_000, 'few', 'many'], [1_000, 0, 1]],
  wider: [{ visits: 1_000, revenue: 30 }, { visits: 3_000, revenue: 60 }],
});
assert.throws(() => tableToIPC(pages[0].concat(pages[1]), 'file'), /replacement dictionaries/);
NODE
timeout 60 node run.mjs
