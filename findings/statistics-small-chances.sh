#!/usr/bin/env bash
# Chances that an experiment or an alarm is decided by: two proportions by cumulativeStdNormalProbability() of
# simple-statistics 7.12.1, expected counts by poisson and binomial of jstat 1.9.6.
# Guess: a chance below all that a table of z holds comes out as nearly 0, and jstat has some digits at the counts of a
# small site, hundreds of events. (The doc comment in simple-statistics names the table, and errorFunction() as the way
# round it.)
# Seen: simple-statistics gives z beyond its table the table's last value: the p-value is 0.002 at z = 10 too, and 0.002
# where 12% against 10% of 10,000 visitors has 0.000006. jstat's Poisson chance is right at a mean of 143, Infinity at
# 144, 150 and 170 and NaN at 171; its binomial one of 515 in 1,030 is Infinity: what is multiplied overflows, where
# logarithms are the custom.
# So corrections for many comparisons never find anything, and an alarm on "fewer than expected" compares with NaN,
# which is never true, on just those pages that have enough events. errorFunction() has the 0.000006.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund simple-statistics@7.12.1 jstat@1.9.6 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import jstat from 'jstat';
import { cumulativeStdNormalProbability, errorFunction } from 'simple-statistics';
const { jStat } = jstat;
const [first, second, visitors] = [1_000, 1_200, 10_000];
const joint = (first + second) / (2 * visitors);
const z = (second - first) / visitors / Math.sqrt((joint * (1 - joint) * 2) / visitors);
const seen = {
  'p of 12% against 10%, simple-statistics': Number((2 * (1 - cumulativeStdNormalProbability(z))).toPrecision(2)),
  'p of 12% against 10%, errorFunction()': Number((1 - errorFunction(z / Math.SQRT2)).toPrecision(1)),
  'p of 12% against 10%, jstat': Number(jStat.ztest(z, 2).toPrecision(2)),
  'p of z = 10, simple-statistics': Number((2 * (1 - cumulativeStdNormalProbability(10))).toPrecision(2)),
  'at most 143 events of 143': Number(jStat.poisson.cdf(143, 143).toPrecision(2)),
  'at most 144 events of 144': jStat.poisson.cdf(144, 144),
  'at most 150 events of 150': jStat.poisson.cdf(150, 150),
  'at most 170 events of 170': jStat.poisson.cdf(170, 170),
  'at most 171 events of 171': jStat.poisson.cdf(171, 171),
  '514 of 1,028 at 50%': Number(jStat.binomial.pdf(514, 1_028, 0.5).toPrecision(2)),
  '515 of 1,030 at 50%': jStat.binomial.pdf(515, 1_030, 0.5),
};
console.log(`simple-statistics 7.12.1 and jstat 1.9.6, z = ${z.toFixed(2)}:`, seen);
assert.deepStrictEqual(seen, {
  'p of 12% against 10%, simple-statistics': 0.002,
  'p of 12% against 10%, errorFunction()': 0.000006,
  'p of 12% against 10%, jstat': 0.0000062,
  'p of z = 10, simple-statistics': 0.002,
  'at most 143 events of 143': 0.52,
  'at most 144 events of 144': Infinity,
  'at most 150 events of 150': Infinity,
  'at most 170 events of 170': Infinity,
  'at most 171 events of 171': NaN,
  '514 of 1,028 at 50%': 0.025,
  '515 of 1,030 at 50%': Infinity,
});
NODE
timeout 30 node run.mjs
