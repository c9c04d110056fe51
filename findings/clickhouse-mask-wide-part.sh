#!/usr/bin/env bash
# Rows that lightweight updates of ClickHouse 26.7 (chdb 3.4.0) hide leave the disk by a mutation that asks for them.
# Guess: ALTER TABLE ... DELETE WHERE NOT _row_exists takes hidden rows away whatever form a part has, and an
# AggregatingMergeTree hides rows as a ReplacingMergeTree does.
# Seen: of a wide part that was masked, then had a column changed by a mutation, then was masked again, it fails
# (NOT_FOUND_COLUMN_IN_BLOCK) however often the engine tries, and no later mutation of the table gets its turn; of a
# compact part it ends.
# An AggregatingMergeTree refuses (344). APPLY PATCHES, then APPLY DELETED MASK, get out of it.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo 'skipped: tried on Linux only'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
timeout 120 node - <<'NODE'
const assert = require('node:assert');
const { mkdtempSync } = require('node:fs');
const { Session } = require('chdb');
const session = new Session(mkdtempSync('./engine-'));
const ask = (sql) => session.query(sql, 'TabSeparated').trim();
const codeOf = (work) => {
  try {
    work();
    return 0;
  } catch (error) {
    return Number(/Code: (\d+)/.exec(String(error.message))?.[1]);
  }
};
const left = (name) =>
  ask(`SELECT latest_fail_reason FROM system.mutations WHERE database = 'd' AND table = '${name}' AND NOT is_done`);
const hidden = (name) =>
  Number(ask(`SELECT count() FROM d.${name} WHERE NOT _row_exists SETTINGS apply_deleted_mask = 0`));
const mask = (name, id) =>
  ask(`DELETE FROM d.${name} WHERE id = ${id} SETTINGS lightweight_delete_mode = 'lightweight_update_force'`);
const makeTable = (name, engine, leastWideBytes) => {
  const blocks = 'enable_block_number_column = 1, enable_block_offset_column = 1';
  ask(`CREATE TABLE d.${name} (id UInt32, note String) ENGINE = ${engine} ORDER BY id
    SETTINGS min_bytes_for_wide_part = ${leastWideBytes}, ${blocks}`);
  ask(`INSERT INTO d.${name} SELECT number, 'a' FROM numbers(3)`);
};
const remove = (name) => {
  mask(name, 0);
  ask(`ALTER TABLE d.${name} UPDATE note = 'b' WHERE id = 1 SETTINGS mutations_sync = 1`);
  mask(name, 2);
  ask(`ALTER TABLE d.${name} DELETE WHERE NOT _row_exists SETTINGS mutations_sync = 0`);
  // One that fails stays, with its reason; one that ends leaves no row hidden.
  for (let look = 0; hidden(name) > 0 && !left(name).includes('Code:'); look++) {
    assert(look < 300, 'neither ended nor failed');
    ask('SELECT sleep(0.1)');
  }
  return { hidden: hidden(name), failed: Number(/Code: (\d+)/.exec(left(name))?.[1] ?? 0) };
};
ask('CREATE DATABASE d');
makeTable('compact', 'MergeTree', 1_000_000);
makeTable('wide', 'MergeTree', 0);
makeTable('sums', 'AggregatingMergeTree', 0);
const compact = remove('compact');
const wide = remove('wide');
ask("KILL MUTATION WHERE database = 'd' AND table = 'wide'");
for (const pass of ['APPLY PATCHES', 'APPLY DELETED MASK'])
  ask(`ALTER TABLE d.wide ${pass} SETTINGS mutations_sync = 1`);
const seen = {
  version: ask('SELECT version()'),
  ...{ compact, wide, 'wide, in two passes': hidden('wide') },
  'AggregatingMergeTree': codeOf(() => mask('sums', 0)),
};
console.log('hidden rows left, and the code of the failure:', seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  ...{ compact: { hidden: 0, failed: 0 }, wide: { hidden: 2, failed: 10 }, 'wide, in two passes': 0 },
  'AggregatingMergeTree': 344,
});
NODE
