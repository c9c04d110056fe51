#!/usr/bin/env bash
# Parameters of an address that @analytics/url-utils 0.2.5 reads with getSearch(), the reader of campaigns and click ids
# in the libraries around `analytics`.
# Guess: a parameter is a text, as URLSearchParams gives it, and a plus is a blank.
# Seen: what looks like a number is one: a campaign "007" is 7, a click id of 20 digits has other digits, and a client
# id loses its last zero; "true" is a boolean. A plus stays a plus. complexParseParams() of the same package keeps
# texts.
# So campaigns become one that were two, and a click id no longer finds its click: read them with URLSearchParams.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @analytics/url-utils@0.2.5 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { complexParseParams, getSearch } from '@analytics/url-utils';
const search =
  'utm_campaign=007&gclid=12345678901234567890&client=1700000000.10&utm_term=1e5&sale=true&utm_source=spring+mail';
const asTexts = Object.fromEntries(new URLSearchParams(search));
const seen = getSearch(`?${search}`);
console.log('@analytics/url-utils 0.2.5:', seen, '; URLSearchParams:', asTexts);
assert.deepStrictEqual(seen, {
  utm_campaign: 7,
  gclid: Number('12345678901234567890'),
  client: 1_700_000_000.1,
  utm_term: 100_000,
  sale: true,
  utm_source: 'spring+mail',
});
assert.deepStrictEqual({ ...complexParseParams(search).search }, { ...asTexts, utm_source: 'spring+mail' });
NODE
timeout 30 node run.mjs
