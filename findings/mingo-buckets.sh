#!/usr/bin/env bash
# $bucket of mingo 7.2.7 (MongoDB's aggregations over arrays) on values that are a boundary.
# Guess: a bucket has its lower boundary and not its upper one, as MongoDB's reference says, and as $bucketAuto of the
# same package does.
# Seen: a boundary belongs to the bucket below it; only the first boundary is in the first bucket. $bucketAuto has it
# the other way.
# So with boundaries 0, 1, 5, 10 the visits of one page, which are most of them, are counted as visits of none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund mingo@7.2.7 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { aggregate } from 'mingo';
const visits = [0, 1, 1, 1, 4, 5, 9].map((pages) => ({ pages }));
const output = { pages: { $push: '$pages' } };
const bucket = { $bucket: { groupBy: '$pages', boundaries: [0, 1, 5, 10], output } };
const auto = { $bucketAuto: { groupBy: '$pages', buckets: 2, output } };
const seen = {
  $bucket: aggregate(visits, [bucket]).map(({ _id, pages }) => `from ${_id}: ${pages}`),
  $bucketAuto: aggregate([1, 2, 3, 4].map((pages) => ({ pages })), [auto]).map(({ _id, pages }) => {
    return `from ${_id.min} to ${_id.max}: ${pages}`;
  }),
};
console.log('mingo 7.2.7, boundaries 0, 1, 5, 10, and two buckets of 1 to 4:', seen);
assert.deepStrictEqual(seen, {
  $bucket: ['from 0: 0,1,1,1', 'from 1: 4,5', 'from 5: 9'],
  $bucketAuto: ['from 1 to 3: 1,2', 'from 3 to 4: 3,4'],
});
NODE
timeout 30 node run.mjs
