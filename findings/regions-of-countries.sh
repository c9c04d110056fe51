#!/usr/bin/env bash
# Names of the regions whose ISO 3166-2 codes databases of places give, in iso-3166-2 1.0.0 and iso-3166 4.4.0.
# Guess: a package named for the standard has its codes, but for the newest; a code that it has means the same region in
# both.
# Seen: iso-3166-2 does not know one code in nine that iso-3166 has: Prague, Beijing, the Ile-de-France, all of Poland.
# Codes that Iran gave anew in 2020 name other provinces: IR-23 is Tehran, and there Hormozgan. Neither has the
# Norwegian counties of 2024; iso-3166 has those that they came from.
# So regions are stored as codes, and their names come from the database that gave the code.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund iso-3166-2@1.0.0 iso-3166@4.4.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { iso31662 } from 'iso-3166';
import older from 'iso-3166-2';
const olderName = (code) => older.subdivision(code)?.name;
const names = new Map(iso31662.map(({ code, name }) => [code, name]));
const seen = {};
for (const code of ['CZ-10', 'CN-BJ', 'FR-IDF', 'PL-14', 'IR-23', 'IR-07', 'NO-33', 'NO-55'])
  seen[code] = [olderName(code), names.get(code)];
const unknown = iso31662.filter(({ code }) => olderName(code) === undefined).length;
console.log(`iso-3166-2 1.0.0 and iso-3166 4.4.0; unknown to the first: ${unknown} of ${iso31662.length}:`, seen);
assert.deepStrictEqual(seen, {
  'CZ-10': [undefined, 'Praha, Hlavní město'],
  'CN-BJ': [undefined, 'Beijing Shi'],
  'FR-IDF': [undefined, 'Île-de-France'],
  'PL-14': [undefined, 'Mazowieckie'],
  'IR-23': ['Hormozgān', 'Tehrān'],
  'IR-07': ['Tehrān', 'Fārs'],
  'NO-33': [undefined, undefined],
  'NO-55': [undefined, undefined],
});
assert.strictEqual(names.get('NO-30'), 'Viken');
assert.deepStrictEqual([unknown, iso31662.length], [586, 5070]);
NODE
timeout 30 node run.mjs
