#!/usr/bin/env bash
# Countries by their codes of ISO 3166 (i18n-iso-countries 7.14.0) in two packages with maps of the world: world-atlas
# 2.0.2 (ids are numeric codes) and jsvectormap 1.7.0 (codes of two letters).
# Guess: each country's shape has its code and each code one shape; what is left out is small islands.
# Seen: in world-atlas at 50m and 10m "036" is Australia and also the Ashmore and Cartier Islands, which come later, so
# that a Map by id has the islands where the continent was. Kosovo, Somaliland and Northern Cyprus have no id, and share
# undefined; Réunion, Guadeloupe and others are part of France at every size, though visitors there have codes of their
# own. jsvectormap has no Singapore, Hong Kong, Bahrain, Mauritius or Malta, as world-atlas at 110m has none.
# So Australia stays white while its visitors are counted, and those of Singapore are nowhere: keep the first shape of
# an id, and list what has no shape beside the map.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages='world-atlas@2.0.2 jsvectormap@1.7.0 i18n-iso-countries@7.14.0'
timeout 120 npm install --silent --no-audit --no-fund $packages >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import countries from 'i18n-iso-countries';
const large = ['HK', 'SG', 'BH', 'MU', 'MT', 'CV', 'RE', 'GP', 'MQ', 'GF'];
const seen = {};
for (const size of ['110m', '50m', '10m']) {
  const file = `node_modules/world-atlas/countries-${size}.json`;
  const shapes = JSON.parse(readFileSync(file, 'utf8')).objects.countries.geometries;
  const byId = new Map(shapes.map((shape) => [shape.id, shape.properties.name]));
  const withoutId = new Set(shapes.filter(({ id }) => !id).map(({ properties }) => properties.name));
  seen[`world-atlas ${size}`] = {
    '036': byId.get(countries.alpha2ToNumeric('AU')),
    withoutId: ['Kosovo', 'Somaliland', 'N. Cyprus'].filter((name) => withoutId.has(name)).join(', '),
    absent: large.filter((code) => !byId.has(countries.alpha2ToNumeric(code))).join(' '),
  };
}
const source = readFileSync('node_modules/jsvectormap/dist/maps/world.js', 'utf8');
let map;
new Function('jsVectorMap', source)({ addMap: (_name, added) => (map = added) });
const nameless = Object.entries(map.paths).filter(([code]) => !countries.alpha2ToNumeric(code));
seen.jsvectormap = {
  withoutCode: nameless.map(([, { name }]) => name).sort().join(', '),
  absent: large.filter((code) => !map.paths[code]).join(' '),
};
console.log('what a Map by code has:', seen);
assert.deepStrictEqual(seen, {
  'world-atlas 110m': {
    '036': 'Australia',
    withoutId: 'Kosovo, Somaliland, N. Cyprus',
    absent: 'HK SG BH MU MT CV RE GP MQ GF',
  },
  'world-atlas 50m': {
    '036': 'Ashmore and Cartier Is.',
    withoutId: 'Kosovo, Somaliland, N. Cyprus',
    absent: 'RE GP MQ GF',
  },
  'world-atlas 10m': {
    '036': 'Ashmore and Cartier Is.',
    withoutId: 'Kosovo, Somaliland, N. Cyprus',
    absent: 'RE GP MQ GF',
  },
  jsvectormap: { withoutCode: 'Kosovo, N. Cyprus, Somaliland', absent: 'HK SG BH MU MT CV RE GP MQ GF' },
});
NODE
timeout 30 node run.mjs
