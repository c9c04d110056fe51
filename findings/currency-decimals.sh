#!/usr/bin/env bash
# Digits behind the point of amounts of money: Intl of Node 26.10.0 (ICU 78.3), beside the table of dinero.js 2.0.2.
# Guess: resolvedOptions() of a currency has the digits of ISO 4217, as ECMA-402 said until 2024 (they are
# implementation-defined since), so that 10 to their power is the way from a payment service's minor units to an amount;
# and a table of money has a decimal base for every currency.
# Seen: sixteen currencies have other digits in Intl, which follows what people see in shops: Colombia, Hungary,
# Indonesia and Pakistan have none in place of 2, Iraq none in place of 3. A seventeenth, MRU, differs in dinero alone:
# Intl has 2 as ISO 4217 has. dinero has the ariary (MGA) and the ouguiya (MRU) with a base of 5: toDecimal() throws for
# both.
# So revenue in forints or pesos is a hundred times too large when its digits come from Intl, and 12.34 is shown as 12:
# take the digits from ISO 4217, and give Intl minimumFractionDigits.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund node@26.10.0 dinero.js@2.0.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { dinero, toDecimal } from 'dinero.js';
import * as currencies from 'dinero.js/currencies';
const formatOf = (currency, more) => new Intl.NumberFormat('en', { style: 'currency', currency, ...more });
const differing = [];
for (const { code, base, exponent } of Object.values(currencies)) {
  const { maximumFractionDigits } = formatOf(code).resolvedOptions();
  if (maximumFractionDigits !== exponent || base !== 10) differing.push(`${code} ${exponent}/${maximumFractionDigits}`);
}
const seen = { process: `${process.version}, ICU ${process.versions.icu}`, differing: differing.sort().join(', ') };
for (const code of ['HUF', 'MGA', 'MRU']) {
  try {
    seen[code] = toDecimal(dinero({ amount: 12345, currency: currencies[code] }));
  } catch (error) {
    seen[code] = error.message;
  }
}
const shown = (more) => formatOf('HUF', more).format(12.34).replace('\u00a0', ' ');
seen['12.34'] = [shown({}), shown({ minimumFractionDigits: 2 })].join(', ');
console.log('dinero.js 2.0.2, digits in dinero/in Intl:', seen);
assert.deepStrictEqual(seen, {
  process: 'v26.10.0, ICU 78.3',
  differing: [
    'AFN 2/0, ALL 2/0, COP 2/0, HUF 2/0, IDR 2/0, IQD 3/0, IRR 2/0, KPW 2/0, LAK 2/0, LBP 2/0, MGA 1/0, MMK 2/0',
    'MRU 1/2, PKR 2/0, SOS 2/0, SYP 2/0, YER 2/0',
  ].join(', '),
  HUF: '123.45',
  MGA: '[Dinero.js] Currency is not decimal.',
  MRU: '[Dinero.js] Currency is not decimal.',
  12.34: 'HUF 12, HUF 12.34',
});
NODE
timeout 30 ./node_modules/.bin/node run.mjs
