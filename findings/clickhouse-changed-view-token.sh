#!/usr/bin/env bash
# Deduplication tokens behind a materialized view of ClickHouse 26.7 (chdb 3.4.0) whose query was changed.
# Guess: an insert that is repeated under its token adds nothing to the view's table, before ALTER ... MODIFY QUERY and
# after it: the view is the same one, and both tables know the token.
# Seen: after MODIFY QUERY, even to the very same query, a repeated insert of before is added a second time. So is one of
# between the change and the view's next load (here DETACH and ATTACH), repeated after it. From that load on the view
# knows inserts by the names of before the change again. The table itself takes each insert once throughout.
# So whoever repeats inserts until they succeed has views loaded again after a change, before the next insert.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo 'skipped: tried on Linux only'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund chdb@3.4.0 >/dev/null
timeout 60 node - <<'NODE'
const assert = require('node:assert');
const { Session } = require('chdb');
const session = new Session('./tables');
const ask = (sql) => session.query(sql, 'TabSeparated').trim();
const select = 'SELECT name, sum(value) AS value FROM raw GROUP BY name';
ask('CREATE DATABASE d ENGINE = Atomic');
const window = 'SETTINGS non_replicated_deduplication_window = 1000';
ask(`CREATE TABLE d.raw (name String, value UInt64) ENGINE = MergeTree ORDER BY name ${window}`);
ask(`CREATE TABLE d.sums (name String, value UInt64) ENGINE = SummingMergeTree ORDER BY name ${window}`);
ask(`CREATE MATERIALIZED VIEW d.view TO d.sums AS ${select.replace('raw', 'd.raw')}`);
const insert = (token) =>
  ask(`INSERT INTO d.raw SETTINGS insert_deduplication_token = '${token}',
    deduplicate_blocks_in_dependent_materialized_views = 1 SELECT '${token}', 1`);
const load = () => {
  ask('DETACH TABLE d.view SYNC');
  ask('ATTACH TABLE d.view');
};
const sums = () => ask("SELECT arrayStringConcat(arraySort(groupArray(concat(name, ' ', toString(value)))), ', ') FROM (SELECT name, sum(value) AS value FROM d.sums GROUP BY name)");
const seen = { version: ask('SELECT version()') };
insert('before');
insert('before');
load();
insert('before');
seen['repeated, and after a load'] = sums();
ask(`ALTER TABLE d.view MODIFY QUERY ${select.replace('raw', 'd.raw')}`);
insert('before');
seen['repeated after the change'] = sums();
insert('between');
load();
insert('between');
insert('before');
seen['both repeated after the next load'] = sums();
insert('after');
load();
insert('after');
seen['one of after it, and another load'] = sums();
seen['rows of the table itself'] = ask('SELECT count() FROM d.raw');
console.log(seen);
assert.deepStrictEqual(seen, {
  version: '26.7.2.1',
  'repeated, and after a load': 'before 1',
  'repeated after the change': 'before 2',
  'both repeated after the next load': 'before 2, between 2',
  'one of after it, and another load': 'after 1, before 2, between 2',
  'rows of the table itself': '3',
});
NODE
