#!/usr/bin/env bash
# Percentiles of a few durations by percentile() and quartiles() of jstat 1.9.6, against d3-array 3.2.5 and jstat's own
# median().
# Guess: percentile() interpolates between the two values around the place, as d3's quantile() does, and the second
# quartile is the median.
# Seen: above the last value but one nothing is interpolated: of ten values the 90th, 95th and 99th percentile are all
# the ninth value, and of two values the 50th is the first. So the slowest of a small group never shows, however slow.
# quartiles() rounds to a place: of [1, 2, 3, 4] it gives 1, 2, 3, where median() gives 2.5.
# So the p95 of pages with less than twenty visits comes from another library.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund jstat@1.9.6 d3-array@3.2.5 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { quantile } from 'd3-array';
import jstat from 'jstat';
const { jStat } = jstat;
const ten = [100, 110, 120, 130, 140, 150, 160, 170, 180, 9000];
const seen = {};
for (const [name, values, share] of [
  ['p80 of ten', ten, 0.8],
  ['p90 of ten', ten, 0.9],
  ['p95 of ten', ten, 0.95],
  ['p99 of ten', ten, 0.99],
  ['p90 of three', [100, 110, 9000], 0.9],
  ['p50 of two', [100, 200], 0.5],
])
  seen[name] = [jStat.percentile(values, share), quantile(values, share)].map(Math.round);
const quartiles = jStat.quartiles([1, 2, 3, 4]);
console.log('jstat 1.9.6 and d3-array 3.2.5:', seen, 'quartiles of [1, 2, 3, 4] in jstat:', quartiles);
assert.deepStrictEqual(seen, {
  'p80 of ten': [172, 172],
  'p90 of ten': [180, 1062],
  'p95 of ten': [180, 5031],
  'p99 of ten': [180, 8206],
  'p90 of three': [110, 7222],
  'p50 of two': [100, 150],
});
assert.deepStrictEqual([quartiles, jStat.median([1, 2, 3, 4])], [[1, 2, 3], 2.5]);
NODE
timeout 30 node run.mjs
