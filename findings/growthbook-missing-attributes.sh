#!/usr/bin/env bash
# Rules of @growthbook/growthbook 1.8.0 on an attribute that a visitor does not have, and how often a visitor is told of.
# Guess: a comparison with what is missing is false, as in SQL and in MongoDB, whose operators these are; and both classes of
# the package tell of one visitor in one experiment once.
# Seen: missing counts as 0 among numbers: age < 18, age >= 0 and age > -1 hold for whoever has no age. Among versions it is
# below all ($vlt holds), among texts it is neither below nor above. GrowthBook tells of a visitor once, GrowthBookClient,
# the class for servers, each time that it is asked.
# So a rule for the young takes everyone who is not logged in, and exposures that a server counts are requests: add
# { "age": { "$exists": true } }, and drop repetitions in trackingCallback.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @growthbook/growthbook@1.8.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { GrowthBook, GrowthBookClient } from '@growthbook/growthbook';
const attributes = { id: 'someone' };
const holds = (condition) => {
  const features = { rule: { defaultValue: false, rules: [{ condition, force: true }] } };
  return new GrowthBook({ attributes, features }).isOn('rule');
};
const rules = {
  'age < 18': { age: { $lt: 18 } },
  'age >= 0': { age: { $gte: 0 } },
  'age > -1': { age: { $gt: -1 } },
  'age > 18': { age: { $gt: 18 } },
  'version < 2.0.0': { version: { $vlt: '2.0.0' } },
  'joined < "2026-01-01"': { joined: { $lt: '2026-01-01' } },
  'joined > "2026-01-01"': { joined: { $gt: '2026-01-01' } },
};
const told = { GrowthBook: 0, GrowthBookClient: 0 };
const features = { page: { defaultValue: 'old', rules: [{ key: 'page', variations: ['old', 'new'], hashAttribute: 'id' }] } };
const one = new GrowthBook({ attributes, features, trackingCallback: () => told.GrowthBook++ });
const forAll = new GrowthBookClient({ trackingCallback: () => told.GrowthBookClient++ });
forAll.initSync({ payload: { features } });
for (let times = 0; times < 3; times++) {
  one.getFeatureValue('page', 'old');
  forAll.getFeatureValue('page', 'old', { attributes });
}
const seen = Object.fromEntries(Object.entries(rules).map(([rule, condition]) => [rule, holds(condition)]));
console.log('@growthbook/growthbook 1.8.0, without the attribute:', seen, 'told of, asked thrice:', told);
assert.deepStrictEqual(seen, {
  'age < 18': true,
  'age >= 0': true,
  'age > -1': true,
  'age > 18': false,
  'version < 2.0.0': true,
  'joined < "2026-01-01"': false,
  'joined > "2026-01-01"': false,
});
assert.deepStrictEqual(told, { GrowthBook: 1, GrowthBookClient: 3 });
process.exit();
NODE
timeout 30 node run.mjs
