#!/usr/bin/env bash
# Ids that @sapphire/snowflake 3.5.5 makes for rows of history, which bring their own moment (`generate({ timestamp
# })`).
# Guess: ids never repeat: the counter of 4,096 a millisecond moves to the next millisecond when it is used up, or
# throws.
# Seen: the counter starts again, within the same millisecond: the 4,097th id of a moment is the first one, without a
# word.
# So an import of rows whose times are whole days or hours loses all but 4,096 of each where the id removes duplicates.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @sapphire/snowflake@3.5.5 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { Snowflake } from '@sapphire/snowflake';
const snowflake = new Snowflake(new Date('2020-01-01'));
const midnight = new Date('2026-01-02');
const ids = Array.from({ length: 10_000 }, () => snowflake.generate({ timestamp: midnight }));
const moments = new Set(ids.map((id) => snowflake.timestampFrom(id)));
console.log('@sapphire/snowflake 3.5.5, 10,000 ids of one moment:', {
  differing: new Set(ids).size,
  moments: moments.size,
  firstRepeat: ids.indexOf(ids[0], 1),
});
assert.strictEqual(new Set(ids).size, 4096);
assert.deepStrictEqual([...moments], [midnight.getTime()]);
assert.strictEqual(ids.indexOf(ids[0], 1), 4096);
NODE
timeout 30 node run.mjs
