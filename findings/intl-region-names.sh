#!/usr/bin/env bash
# Names of countries in Intl.DisplayNames of Node 24.11.0 (ICU 77.1), read the other way: from the English name to its code, as
# whoever imports an export with names instead of codes needs it.
# Guess: a name belongs to one code, so that a table made by asking for AA to ZZ has, whichever comes first or last, the
# code of today; codes of states that are no more have no name, or one of their own.
# Seen: fifteen names belong to two codes or three. By the first code Germany is DD and Serbia CS, by the last one Russia
# is SU, France FX and the United Kingdom UK; either order is right for seven of the fifteen. AN, five islands once, is
# called Curaçao, and the Soviet Union Russia.
# So neither order is right: a code counts only where Intl.getCanonicalLocales leaves `und-CODE` as it is.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true }' >package.json
timeout 300 npm install --silent --no-audit --no-fund node@24.11.0 >/dev/null
timeout 60 node_modules/.bin/node - <<'NODE'
const assert = require('node:assert');
const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
const codesOf = new Map();
for (const code of letters.flatMap((one) => letters.map((other) => one + other))) {
  const name = names.of(code);
  if (name !== undefined) codesOf.set(name, [...(codesOf.get(name) ?? []), code]);
}
const several = [...codesOf].filter(([, codes]) => codes.length > 1);
const isOfToday = (code) => Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`;
const of = (name) => codesOf.get(name).join(' ');
const seen = {
  icu: process.versions.icu,
  'names of several codes': several.length,
  Germany: of('Germany'),
  Serbia: of('Serbia'),
  Russia: of('Russia'),
  France: of('France'),
  'United Kingdom': of('United Kingdom'),
  Curaçao: of('Curaçao'),
  Czechoslovakia: names.of('CS') === 'Czechoslovakia',
  'first is right': several.filter(([, [first]]) => isOfToday(first)).length,
  'last is right': several.filter(([, codes]) => isOfToday(codes.at(-1))).length,
  'one is canonical': several.filter(([, codes]) => codes.filter(isOfToday).length === 1).length,
};
console.log(seen);
assert.deepStrictEqual(seen, {
  icu: '77.1',
  'names of several codes': 15,
  Germany: 'DD DE',
  Serbia: 'CS RS YU',
  Russia: 'RU SU',
  France: 'FR FX',
  'United Kingdom': 'GB UK',
  Curaçao: 'AN CW',
  Czechoslovakia: false,
  'first is right': 7,
  'last is right': 7,
  'one is canonical': 15,
});
NODE
