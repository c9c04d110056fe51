#!/usr/bin/env bash
# Counts in the short form of numbro 2.5.0 (average: true), beside millify 6.1.0, d3-format 3.1.3 and Intl of Node.
# Guess: a count below a thousand is itself, and the letter changes where rounding reaches the next thousand.
# Seen: it changes at the half: 500 visitors are "1k", as 1,499 are, while 499 are "499"; 500,000 are "1m". With one
# decimal 500 are "0.5k", and 950 to 999 are "1.0k". The others have 500 and 950.
# So 500 visitors and 1,499 look the same, and a site seems to double with its five hundredth: what mends it is the
# option lowPrecision: false, which is true where it is not given.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund numbro@2.5.0 millify@6.1.0 d3-format@3.1.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { format } from 'd3-format';
import { millify } from 'millify';
import numbro from 'numbro';
const intl = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const seen = {};
for (const count of [499, 500, 749, 950, 1_000, 1_499, 499_999, 500_000]) {
  seen[count] = [
    numbro(count).format({ average: true }),
    numbro(count).format({ average: true, mantissa: 1 }),
    numbro(count).format({ average: true, lowPrecision: false }),
    millify(count),
    format('.2~s')(count),
    intl.format(count),
  ].join(' ');
}
console.log('numbro, with a decimal, with lowPrecision: false; millify, d3-format, Intl:', seen);
assert.deepStrictEqual(seen, {
  499: '499 499.0 499 499 500 499',
  500: '1k 0.5k 500 500 500 500',
  749: '1k 0.7k 749 749 750 749',
  950: '1k 1.0k 950 950 950 950',
  1000: '1k 1.0k 1k 1K 1k 1K',
  1499: '1k 1.5k 1k 1.5K 1.5k 1.5K',
  499999: '500k 500.0k 500k 500K 500k 500K',
  500000: '1m 0.5m 500k 500K 500k 500K',
});
NODE
timeout 30 node run.mjs
