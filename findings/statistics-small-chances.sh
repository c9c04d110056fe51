#!/usr/bin/env bash
# Chances that an experiment or an alarm is decided by: two proportions by cumulativeStdNormalProbability() of simple-statistics
# 7.12.1, expected counts by poisson and binomial of jstat 1.9.6.
# Guess: both have double precision, or some six digits, at the counts of a small site: hundreds of events, z below 10.
# Seen: simple-statistics looks z up in a printed table that ends at 3.09: no p-value is below 0.002, where 12% against 10%
# of 10,000 visitors has 0.000006. jstat's Poisson chance is Infinity from a mean of 150 on and NaN from 171; its binomial
# one of 515 in 1,030 is Infinity: they multiply what overflows, where logarithms are the custom.
# So corrections for many comparisons never find anything, and an alarm on "fewer than expected" compares with NaN, which is
# never true, on just those pages that have enough events.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund simple-statistics@7.12.1 jstat@1.9.6 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import jstat from 'jstat';
import { cumulativeStdNormalProbability } from 'simple-statistics';
const { jStat } = jstat;
const [first, second, visitors] = [1_000, 1_200, 10_000];
const joint = (first + second) / (2 * visitors);
const z = (second - first) / visitors / Math.sqrt((joint * (1 - joint) * 2) / visitors);
const seen = {
  'p of 12% against 10%, simple-statistics': Number((2 * (1 - cumulativeStdNormalProbability(z))).toPrecision(2)),
  'p of 12% against 10%, jstat': Number(jStat.ztest(z, 2).toPrecision(2)),
  'at most 140 events of 140': Number(jStat.poisson.cdf(140, 140).toPrecision(2)),
  'at most 150 events of 150': jStat.poisson.cdf(150, 150),
  'at most 171 events of 171': jStat.poisson.cdf(171, 171),
  '514 of 1,028 at 50%': Number(jStat.binomial.pdf(514, 1_028, 0.5).toPrecision(2)),
  '515 of 1,030 at 50%': jStat.binomial.pdf(515, 1_030, 0.5),
};
console.log(`simple-statistics 7.12.1 and jstat 1.9.6, z = ${z.toFixed(2)}:`, seen);
assert.deepStrictEqual(seen, {
  'p of 12% against 10%, simple-statistics': 0.002,
  'p of 12% against 10%, jstat': 0.0000062,
  'at most 140 events of 140': 0.52,
  'at most 150 events of 150': Infinity,
  'at most 171 events of 171': NaN,
  '514 of 1,028 at 50%': 0.025,
  '515 of 1,030 at 50%': Infinity,
});
NODE
timeout 30 node run.mjs
