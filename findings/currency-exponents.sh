#!/usr/bin/env bash
# Amounts in the form with an exponent that currency.js 2.0.4 reads from text: Java writes doubles from ten million on
# as 1.0E7, JavaScript and Python small ones as 1e-7.
# Guess: the text is a number as Number() reads it; or it is not money, and `errorOnInvalid: true` throws.
# Seen: the letter is dropped and the digits are joined: "1.0E7" is 1.07, "2.5e6" is 2.56 and "1e3" is 13, and nothing
# throws, with errorOnInvalid too; "1E-7" is NaN without an error. The same numbers, not as text, are right.
# So revenue of ten million becomes a dollar without a word: turn a text into a number before currency() sees it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund currency.js@2.0.4 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import currency from 'currency.js';
const seen = {};
for (const text of ['1.0E7', '2.5e6', '1e3', '1E-7']) {
  const values = [currency(text), currency(text, { errorOnInvalid: true }), currency(Number(text))];
  seen[text] = values.map(({ value }) => value);
}
assert.throws(() => currency(undefined, { errorOnInvalid: true }));
console.log('currency.js 2.0.4, from text, with errorOnInvalid, from the number:', seen);
assert.deepStrictEqual(seen, {
  '1.0E7': [1.07, 1.07, 10_000_000],
  '2.5e6': [2.56, 2.56, 2_500_000],
  '1e3': [13, 13, 1000],
  '1E-7': [Number.NaN, Number.NaN, 0],
});
NODE
timeout 30 node run.mjs
