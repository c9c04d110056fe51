#!/usr/bin/env bash
# Flags of countries from @iconify-json/circle-flags 1.2.11 beside those of circle-flags 2.8.3, of which it is made.
# Guess: the same flags by the same names, two letters of ISO 3166.
# Seen: circle-flags keeps flags of languages in a folder of their own; the set puts both under one name, and the language
# wins where a country has a flag too: Argentina (ar) is Arabic, Ireland (ie) Interlingue, the British Indian Ocean
# Territory (io) Ido and Laos (la) Latin. Some fifty more pairs of letters that are no countries have a flag.
# So a list of visitors' countries shows strange flags for four of them, and nothing fails: take circle-flags itself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @iconify-json/circle-flags@1.2.11 circle-flags@2.8.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
const { icons } = JSON.parse(readFileSync('node_modules/@iconify-json/circle-flags/icons.json', 'utf8'));
/** The colours of a drawing: shapes are written differently in the two, colours are not. */
const coloursOf = (drawing) =>
  [...new Set(drawing.match(/#[0-9a-f]{6}\b|#[0-9a-f]{3}\b/gi))]
    .map((one) => one.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3').toLowerCase())
    .sort()
    .join();
const fileOf = (name) => `node_modules/circle-flags/flags/${name}.svg`;
const isLike = (code, name) =>
  existsSync(fileOf(name)) && coloursOf(icons[code].body) === coloursOf(readFileSync(fileOf(name), 'utf8'));
const codes = Object.keys(icons).filter((name) => /^[a-z]{2}$/.test(name));
const languages = codes.filter((code) => isLike(code, `language/${code}`) && !isLike(code, code));
const countries = languages.filter((code) => existsSync(fileOf(code)));
console.log('countries with the flag of a language:', countries);
console.log('no country, and a flag all the same:', languages.length - countries.length);
assert.deepStrictEqual(countries, ['ar', 'ie', 'io', 'la']);
assert(languages.length - countries.length > 40);
NODE
timeout 30 node run.mjs
