#!/usr/bin/env bash
# it.each of vitest 4.1.12 with %j in the title and a BigInt in the row.
# Guess: a title is text for the reader, so a value that JSON has no form for shows as something like [object] or 1n.
# Seen: making the title throws while the file is collected: the file fails without a test, and its other tests, which
# name no such value, do not run either. %s and $name show "1" and "1n".
# So a row with a BigInt needs another placeholder, or the whole file is lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund vitest@4.1.12 >/dev/null
for placeholder in '%j' '%s' '$n'; do
  cat > each.test.mjs <<TEST
import { expect, it } from 'vitest';
it('of another kind', () => expect(1).toBe(1));
it.each([{ n: 1n }].map((row) => ('$placeholder' === '\$n' ? row : row.n)))('is $placeholder', (row) => {
  expect(row.n ?? row).toBe(1n);
});
TEST
  timeout 60 node_modules/.bin/vitest run --reporter=json > "result of $placeholder.json" 2>/dev/null || true
done
timeout 30 node - <<'NODE'
const assert = require('node:assert');
const { readFileSync } = require('node:fs');
const seen = {};
for (const placeholder of ['%j', '%s', '$n']) {
  const { testResults } = JSON.parse(readFileSync(`result of ${placeholder}.json`, 'utf8'));
  const [{ assertionResults, message }] = testResults;
  const tests = assertionResults.map(({ title, status }) => `${title}: ${status}`);
  seen[placeholder] = message === '' ? tests : [...tests, message.split('\n')[0]];
}
console.log(seen);
assert.deepStrictEqual(seen, {
  '%j': ['Do not know how to serialize a BigInt'],
  '%s': ['of another kind: passed', 'is 1n: passed'],
  '$n': ['of another kind: passed', 'is 1n: passed'],
});
NODE
