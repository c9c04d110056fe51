#!/usr/bin/env bash
# maxmind 5.0.7 (mmdb-lib 3.0.3) with a database of countries that has IPv4 addresses alone.
# Guess: an IPv6 address has no entry there, or is an error; and ::ffff:8.8.8.8, as a socket for both kinds of addresses
# names an IPv4 peer, finds the entry of 8.8.8.8.
# Seen: the first four bytes of an IPv6 address are looked up as if they were an IPv4 address, so that visitors from
# Germany are in Hong Kong; the mapped address finds nothing, and neither does it in the database of both kinds.
# So look at metadata.ipVersion before asking for an IPv6 address, and take ::ffff: away first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
packages='maxmind@5.0.7 mmdb-lib@3.0.3 @ip-location-db/geo-whois-asn-country-mmdb@2.3.2026061719'
timeout 150 npm install --silent --no-audit --no-fund $packages >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { open } from 'maxmind';
const database = 'node_modules/@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country';
const readers = { 'IPv4 alone': await open(`${database}-ipv4.mmdb`), both: await open(`${database}.mmdb`) };
const seen = {};
for (const address of ['8.8.8.8', '::ffff:8.8.8.8', '2a02:8109::1', '2a01:e34::1', '2804:14c::1']) {
  seen[address] = Object.entries(readers).map(([name, reader]) => {
    return `${name}: ${reader.get(address)?.country_code ?? 'nothing'}`;
  }).join(', ');
}
console.log('maxmind 5.0.7, countries by address:', seen);
assert.deepStrictEqual(Object.values(readers).map(({ metadata }) => metadata.ipVersion), [4, 6]);
assert.deepStrictEqual(seen, {
  '8.8.8.8': 'IPv4 alone: US, both: US',
  '::ffff:8.8.8.8': 'IPv4 alone: nothing, both: nothing',
  '2a02:8109::1': 'IPv4 alone: HK, both: DE',
  '2a01:e34::1': 'IPv4 alone: CN, both: FR',
  '2804:14c::1': 'IPv4 alone: US, both: BR',
});
NODE
timeout 60 node run.mjs
