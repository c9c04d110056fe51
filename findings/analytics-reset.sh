#!/usr/bin/env bash
# Events after reset() in `analytics` 0.8.19, the plugin system over other vendors' SDKs, as its build for Node has it.
# Guess: reset() makes a new anonymous id, as the vendors' own SDKs do; and another user begins without the former's
# traits.
# Seen: reset() leaves no anonymous id: every event until the next identify() has neither user nor anonymous id, which
# servers of Segment's form refuse. identify() makes a new one. Without reset(), identify() of another user keeps the
# traits of the first, each of which the second did not bring, and the anonymous id.
# So a plugin checks for events without an identity, and the page calls setAnonymousId() after reset().
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund analytics@0.8.19 @analytics/core@0.13.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { Analytics } from 'analytics';
const seen = {};
const note = ({ payload: { event, userId, anonymousId } }) => {
  seen[event] = { userId, hasAnonymousId: Boolean(anonymousId) };
};
const analytics = Analytics({ app: 'example', plugins: [{ name: 'note', track: note }] });
await analytics.track('at first');
await analytics.identify('one', { plan: 'paid', city: 'Lima' });
const anonymousId = analytics.user('anonymousId');
await analytics.identify('two', { plan: 'free' });
const { traits } = analytics.user();
assert.strictEqual(analytics.user('anonymousId'), anonymousId);
await analytics.reset();
await analytics.track('after reset');
await analytics.track('once more');
await analytics.identify('three');
await analytics.track('after identify');
console.log('analytics 0.8.19, traits of the second user:', traits, 'events:', seen);
assert.deepStrictEqual(traits, { plan: 'free', city: 'Lima' });
assert.deepStrictEqual(seen, {
  'at first': { userId: null, hasAnonymousId: true },
  'after reset': { userId: null, hasAnonymousId: false },
  'once more': { userId: null, hasAnonymousId: false },
  'after identify': { userId: 'three', hasAnonymousId: true },
});
process.exit(0);
NODE
timeout 30 node run.mjs
