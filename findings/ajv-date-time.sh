#!/usr/bin/env bash
# Times of events that the format date-time of ajv-formats 3.0.1 (ajv 8.20.0) takes, and what new Date() makes of them.
# Guess: date-time is RFC 3339, of which Date reads all but a leap second; so what was validated can be stored as a moment.
# Seen: an offset of hours alone (+05), which RFC 3339 does not have, passes, and Date gives Invalid Date, whose
# toISOString() throws behind the validation; so does each leap second, which is taken on any day. A space in place of T
# passes by default and not with { mode: 'fast' }, which takes a thirteenth month in turn.
# So a batch that is valid stops its worker at one event: parse the time where it is validated, and answer there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund ajv@8.20.0 ajv-formats@3.0.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import ajv from 'ajv';
import formats from 'ajv-formats';
const validate = {};
for (const mode of ['full', 'fast']) {
  validate[mode] = formats.default(new ajv.default(), { mode }).compile({ type: 'string', format: 'date-time' });
}
const expected = {
  '2026-01-01T00:00:00+05:00': 'full, fast, Date',
  '2026-01-01T00:00:00+05': 'full, fast',
  '2026-01-01T23:59:60Z': 'full, fast',
  '2026-01-01 00:00:00Z': 'full, Date',
  '2026-13-01T00:00:00Z': 'fast',
  '2026-01-01T00:00:00': 'Date',
};
const seen = {};
for (const text of Object.keys(expected)) {
  const takers = Object.keys(validate).filter((mode) => validate[mode](text));
  if (!Number.isNaN(Date.parse(text))) takers.push('Date');
  seen[text] = takers.join(', ');
}
console.log('ajv-formats 3.0.1, who takes it:', seen);
assert.deepStrictEqual(seen, expected);
NODE
timeout 30 node run.mjs
