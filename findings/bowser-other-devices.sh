#!/usr/bin/env bash
# bowser 2.15.0 and detect-browser 5.3.0 on agents that are not those of a usual browser.
# Guess: whoever reads Android's agents knows Dalvik, the client of apps without a browser, for a phone when its model
# is one; UC Browser has its own version; and KaiOS, whose agents say KAIOS, is KaiOS or unknown.
# Seen: bowser takes a Dalvik agent for a tablet, and gives UC Browser the 4.0 of Android's old "Version/4.0".
# detect-browser has OS/2 for KaiOS: the letters OS/2 in KAIOS/2.5 are enough.
# So apps' events are those of tablets, and a report by system has a system of 1987: ask for devices of browsers' agents
# only, and name what is rare "other".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund bowser@2.15.0 detect-browser@5.3.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import Bowser from 'bowser';
import { parseUserAgent } from 'detect-browser';
const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const chrome = 'Chrome/100.0.4896.58';
const agents = {
  'app on a phone': 'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UQ1A.240205.004)',
  'UC Browser 13.7': [
    `Mozilla/5.0 (Linux; U; Android 14; en-US; RMX3085 Build/UP1A) ${webkit} Version/4.0 ${chrome}`,
    'UCBrowser/13.7.8.1319 Mobile Safari/537.36',
  ].join(' '),
  'KaiOS 2.5': 'Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5',
};
const seen = {};
for (const [device, agent] of Object.entries(agents)) {
  const { browser, platform } = Bowser.parse(agent);
  const ofBowser = `${browser.name} ${browser.version}, ${platform.type}`;
  seen[device] = { bowser: ofBowser, 'detect-browser': parseUserAgent(agent).os };
}
console.log('bowser 2.15.0 and detect-browser 5.3.0:', seen);
assert.deepStrictEqual(seen, {
  'app on a phone': { bowser: 'Android Browser undefined, tablet', 'detect-browser': 'Android OS' },
  'UC Browser 13.7': { bowser: 'UC Browser 4.0, mobile', 'detect-browser': 'Android OS' },
  'KaiOS 2.5': { bowser: 'Firefox 48.0, mobile', 'detect-browser': 'OS/2' },
});
NODE
timeout 30 node run.mjs
