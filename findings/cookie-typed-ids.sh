#!/usr/bin/env bash
# A visitor's id that universal-cookie 8.1.2 (react-cookie is built on it) sets and gets.
# Guess: get() gives the text that set() had; the documentation says that what was set as an object comes back as one.
# Seen: each text that is JSON is parsed: an id of 19 digits has other digits, "1700000000.10" loses its zero, "1e5" is
# 100000 and "true" a boolean, and which of the visitors have a number depends on their id: "007" stays. `doNotParse:
# true` gives texts.
# So one visitor becomes another at each page: ask for ids with doNotParse.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund universal-cookie@8.1.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import Cookies from 'universal-cookie';
const cookies = new Cookies();
const seen = {};
for (const id of ['1234567890123456789', '1700000000.10', '1e5', '007', 'true', 'a1']) {
  cookies.set('visitor', id);
  seen[id] = cookies.get('visitor');
  assert.strictEqual(cookies.get('visitor', { doNotParse: true }), id);
}
console.log('universal-cookie 8.1.2, by what was set:', seen);
assert.deepStrictEqual(seen, {
  '1234567890123456789': Number('1234567890123456789'),
  '1700000000.10': 1_700_000_000.1,
  '1e5': 100_000,
  '007': '007',
  true: true,
  a1: 'a1',
});
NODE
timeout 30 node run.mjs
