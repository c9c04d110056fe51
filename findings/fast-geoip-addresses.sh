#!/usr/bin/env bash
# Countries of addresses that are not IPv4 of the open net, by fast-geoip 1.1.88, beside geoip-country 5.0.202609260156.
# Guess: private and reserved addresses have none (null, as for what is not found), and IPv6 has its country, or null
# where the data is IPv4's alone.
# Seen: each address has the range that begins before it: 192.168.0.1 is in Monterotondo in Italy, 10.0.0.1 in the
# United States, 127.0.0.1 in Japan and 224.0.0.1 in Australia. Of IPv6 the digits before the first letter or colon
# count as the first number of an IPv4 address: 2a00 and 2c00 are France, and 2001 and 2600 are Australia, which has the
# end of the table. An IPv4 address in the form of IPv6 is null.
# So a site whose visitors have IPv6 is a site of France and Australia, and whoever forgets to trust the proxy has
# visitors in the United States. geoip-country has the countries, and null for those that have none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 300 npm install --silent --no-audit --no-fund fast-geoip@1.1.88 geoip-country@5.0.202609260156 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const fast = require('fast-geoip');
const country = require('geoip-country');
const addresses = ['8.8.8.8', '192.168.0.1', '10.0.0.1', '127.0.0.1', '224.0.0.1'];
addresses.push('2001:4860:4860::8888', '2600::1', '2a00::1', '2c00::1', '::ffff:8.8.8.8');
(async () => {
  const seen = {};
  for (const address of addresses) {
    const found = await fast.lookup(address);
    const place = found && [found.country, found.city].filter(Boolean).join(' ');
    seen[address] = `${place}, ${country.lookup(address)?.country}`;
  }
  console.log('fast-geoip, geoip-country:', seen);
  assert.deepStrictEqual(seen, {
    '8.8.8.8': 'US, US',
    '192.168.0.1': 'IT Monterotondo, undefined',
    '10.0.0.1': 'US, undefined',
    '127.0.0.1': 'JP, undefined',
    '224.0.0.1': 'AU, undefined',
    '2001:4860:4860::8888': 'AU, US',
    '2600::1': 'AU, US',
    '2a00::1': 'FR, DE',
    '2c00::1': 'FR, undefined',
    '::ffff:8.8.8.8': 'null, US',
  });
})();
NODE
timeout 60 node run.cjs
