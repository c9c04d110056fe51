#!/usr/bin/env bash
# Rows that a lightweight update of ClickHouse 26.7 (chdb 3.4.0) deletes, where a merge is under way.
# Guess: a DELETE that has ended hides its rows for good, whenever the merges around it began.
# Seen: with enable_block_number_column and enable_block_offset_column in the table from the start, the row stays
# deleted. Where both are switched on while a merge is under way, as the error for a table without them asks for, DELETE
# ends without an error, no SELECT finds the row, and when that merge ends the row is back, without a word in any log.
# So SYSTEM STOP MERGES, and an empty system.merges, come before the switch.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo 'skipped: tried on Linux only'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
timeout 200 node - <<'NODE'
const assert = require('node:assert');
const { mkdtempSync } = require('node:fs');
const { Session } = require('chdb');
const session = new Session(mkdtempSync('./engine-'));
const ask = (sql) => session.query(sql, 'TabSeparated').trim();
const merges = () => Number(ask("SELECT count() FROM system.merges WHERE database = 'd'"));
const blocks = 'enable_block_number_column = 1, enable_block_offset_column = 1';
// Slow to compress, so that the merge is under way for some seconds.
const makeTable = (name, settings) => {
  const columns = 'id UInt64, note String CODEC(ZSTD(19))';
  ask(`CREATE TABLE d.${name} (${columns}) ENGINE = MergeTree ORDER BY id${settings}`);
  ask(`SYSTEM STOP MERGES d.${name}`);
  for (let part = 0; part < 8; part++)
    ask(`INSERT INTO d.${name} SELECT number * 8 + ${part}, randomPrintableASCII(100) FROM numbers(30000)`);
  ask(`SYSTEM START MERGES d.${name}`);
  for (let look = 0; merges() === 0; look++) {
    assert(look < 1_000, 'no merge begins');
    ask('SELECT sleep(0.02)');
  }
};
const rowsAround = (name) => {
  const rows = () => Number(ask(`SELECT count() FROM d.${name} WHERE id = 7`));
  const before = rows();
  ask(`DELETE FROM d.${name} WHERE id = 7 SETTINGS lightweight_delete_mode = 'lightweight_update_force'`);
  const deleted = rows();
  assert(merges() > 0, 'the merge ended too early to tell anything');
  for (let look = 0; merges() > 0; look++) {
    assert(look < 1_000, 'the merge does not end');
    ask('SELECT sleep(0.1)');
  }
  return { before, deleted, merged: rows() };
};
ask('CREATE DATABASE d');
makeTable('early', ` SETTINGS ${blocks}`);
const early = rowsAround('early');
makeTable('late', '');
ask(`ALTER TABLE d.late MODIFY SETTING ${blocks}`);
const late = rowsAround('late');
const seen = { version: ask('SELECT version()'), early, late };
console.log('rows before DELETE, after it, and after the merge:', seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  early: { before: 1, deleted: 0, merged: 0 },
  late: { before: 1, deleted: 0, merged: 1 },
});
NODE
