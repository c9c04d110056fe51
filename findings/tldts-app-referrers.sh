#!/usr/bin/env bash
# Sites of referrers like android-app://com.google.android.gm/, which Android's apps send, by getDomain() of tldts 7.5.4.
# Guess: they have no domain: the name is that of a package, and nothing in it is a public suffix.
# Seen: the package's name is read as a host, from its wrong end: Gmail is android.gm, a name in the Gambia; Telegram is
# telegram.messenger, the Facebook app is facebook.katana; a URL that is no site's at all, app://obsidian.md, has a domain.
# A last part that is on no list is taken for a suffix all the same.
# So visits from one publisher's apps are those of as many strange sites, some of which are somebody's: look at the scheme
# before asking for a domain.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund tldts@7.5.4 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { parse } from 'tldts';
const domainOf = {
  'android-app://com.google.android.gm/': 'android.gm (ICANN)',
  'android-app://com.google.android.googlequicksearchbox/': 'android.googlequicksearchbox',
  'android-app://org.telegram.messenger/': 'telegram.messenger',
  'android-app://com.facebook.katana/': 'facebook.katana',
  'app://obsidian.md': 'obsidian.md (ICANN)',
  'https://mail.google.com/': 'google.com (ICANN)',
};
const seen = {};
for (const referrer of Object.keys(domainOf)) {
  const { domain, isIcann } = parse(referrer);
  seen[referrer] = isIcann ? `${domain} (ICANN)` : domain;
}
console.log('tldts 7.5.4:', seen);
assert.deepStrictEqual(seen, domainOf);
NODE
timeout 30 node run.mjs
