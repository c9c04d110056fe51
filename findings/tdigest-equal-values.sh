#!/usr/bin/env bash
# Percentiles of 10,000 numbers, 95 of each 100 of which are 1 and the others 95 to 99, by tdigest 0.1.3 and by the
# Summary of prom-client 15.1.3, which uses it.
# Guess: a t-digest is exact to about a percent of rank: where 95 of 100 numbers are 1, the median is 1, and so is p90.
# Seen: the median is above 3 and p90 above 50 (6 and 84 in one run); p96 is right. The weight of a mean is taken to lie
# in its middle, and all ranks from there to the next mean are interpolated, although the 1 fills the lower 95% with
# nothing between.
# So a Summary of counts (events a batch, pages a visit, tries of a delivery), which are 1 nearly always, tells of
# others; a histogram with buckets at 1, 2, 5 tells the truth.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund tdigest@0.1.3 prom-client@15.1.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import prometheus from 'prom-client';
import { TDigest } from 'tdigest';
const digest = new TDigest();
const summary = new prometheus.Summary({ name: 'tries', help: 'of a delivery', percentiles: [0.5, 0.9, 0.96] });
const numbers = [];
for (let index = 0; index < 10_000; index++) {
  const number = index % 100 < 95 ? 1 : index % 100;
  numbers.push(number);
  digest.push(number);
  summary.observe(number);
}
digest.compress();
numbers.sort((one, other) => one - other);
const { values } = await summary.get();
const seen = {};
for (const percentile of [0.5, 0.9, 0.96]) {
  const ofSummary = values.find((value) => value.labels.quantile === percentile).value;
  const exact = numbers[percentile * numbers.length];
  seen[percentile] = { exact, tdigest: Math.round(digest.percentile(percentile)), Summary: Math.round(ofSummary) };
}
console.log('tdigest 0.1.3 and prom-client 15.1.3:', seen);
assert.deepStrictEqual([seen[0.5].exact, seen[0.9].exact, seen[0.96].exact], [1, 1, 96]);
for (const of of ['tdigest', 'Summary']) {
  assert(seen[0.5][of] > 3, `${of} has a median near the truth`);
  assert(seen[0.9][of] > 50, `${of} has a p90 near the truth`);
  assert(Math.abs(seen[0.96][of] - 96) <= 2, `${of} has another p96`);
}
NODE
timeout 60 node run.mjs
