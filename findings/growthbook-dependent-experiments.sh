#!/usr/bin/env bash
# Two experiments on the same 20,000 visitors, each half and half, drawn by run() of @growthbook/growthbook 1.8.0.
# Guess: the draws are independent: of either half of the first experiment, half are in B of the second.
# Seen: with keys that differ in few letters they are not. Of A of "one" 56% are in B of "two", of B 44%; for exp-1 and exp-2
# it is 53% and 48%, whether ids are numbers, hashes or addresses. It is the hash that is taken unless `hashVersion: 2` is
# said: with it all are 50%, as they are for keys that share less.
# So what the second experiment changes is seen in the first one's result: an effect of 10 points shows as one of 1.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @growthbook/growthbook@1.8.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createHash } from 'node:crypto';
import { GrowthBook } from '@growthbook/growthbook';
const ids = {
  numbers: (place) => String(100_000 + place),
  hashes: (place) => createHash('sha256').update(`${place}`).digest('hex'),
};
const sharesInSecond = (idOf, keys, hashVersion) => {
  const counts = [[0, 0], [0, 0]];
  for (let place = 0; place < 20_000; place++) {
    const visitor = new GrowthBook({ attributes: { id: idOf(place) } });
    const [first, second] = keys.map((key) => visitor.run({ key, variations: [0, 1], hashVersion }).value);
    counts[first][second]++;
  }
  return counts.map(([inA, inB]) => Math.round((100 * inB) / (inA + inB)));
};
const seen = {};
for (const [kind, idOf] of Object.entries(ids)) {
  for (const keys of [['one', 'two'], ['exp-1', 'exp-2'], ['new-checkout', 'free-shipping']]) {
    seen[`${kind}, ${keys}`] = {
      'by default': sharesInSecond(idOf, keys),
      'hashVersion 2': sharesInSecond(idOf, keys, 2),
    };
  }
}
console.log('@growthbook/growthbook 1.8.0, percent in B of the second, of A and of B of the first:');
console.log(seen);
const isNear = ([ofA, ofB], [expectedA, expectedB]) => Math.abs(ofA - expectedA) <= 2 && Math.abs(ofB - expectedB) <= 2;
for (const kind of Object.keys(ids)) {
  assert(isNear(seen[`${kind}, one,two`]['by default'], [56, 44]));
  assert(isNear(seen[`${kind}, exp-1,exp-2`]['by default'], [53, 48]));
  assert(isNear(seen[`${kind}, new-checkout,free-shipping`]['by default'], [50, 50]));
}
for (const shares of Object.values(seen)) assert(isNear(shares['hashVersion 2'], [50, 50]));
process.exit();
NODE
timeout 60 node run.mjs
