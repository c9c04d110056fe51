#!/usr/bin/env bash
# MurmurHash3 (x86, 32 bits) of ids that are not ASCII, as for the share of people who get a variant, by four packages
# of npm.
# Guess: the packages hash the UTF-8 bytes of a text, as other languages do, and agree; none of their READMEs says else.
# Seen: they agree on ASCII. Of other texts murmurhash 2.0.1 hashes UTF-8. murmurhash3js 3.0.1, murmurhash-js 1.0.0 and
# imurmurhash 0.1.4 do not: the first two take the low byte of each UTF-16 unit, so that "Ł" (U+0141) is "A", and
# imurmurhash agrees with nobody from U+0100 on.
# So two services in which the package differs put the same person into different buckets: hash bytes, not texts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund \
  murmurhash@2.0.1 murmurhash3js@3.0.1 murmurhash-js@1.0.0 imurmurhash@0.1.4 murmurhash3js-revisited@3.0.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import imurmurhash from 'imurmurhash';
import murmurhash from 'murmurhash';
import murmurhash3js from 'murmurhash3js';
import { murmur3 } from 'murmurhash-js';
import revisited from 'murmurhash3js-revisited';
const packages = {
  murmurhash: (text) => murmurhash.v3(text),
  murmurhash3js: (text) => murmurhash3js.x86.hash32(text),
  'murmurhash-js': (text) => murmur3(text),
  imurmurhash: (text) => imurmurhash(text).result(),
};
const seen = {};
for (const text of ['user-1', 'jos\u00e9', '\u0141', '\u7528\u6237', '\u{1f600}']) {
  const ofBytes = revisited.x86.hash32(Buffer.from(text));
  seen[text] = Object.entries(packages).filter(([, hash]) => hash(text) === ofBytes).map(([name]) => name);
}
console.log('Packages whose hash is that of the UTF-8 bytes:', seen);
const all = Object.keys(packages);
assert.deepStrictEqual(Object.values(seen), [all, ['murmurhash'], ['murmurhash'], ['murmurhash'], ['murmurhash']]);
for (const name of ['murmurhash3js', 'murmurhash-js'])
  assert.strictEqual(packages[name]('\u0141'), packages[name]('A'));
assert.notStrictEqual(packages.imurmurhash('\u7528\u6237'), packages['murmurhash-js']('\u7528\u6237'));
NODE
timeout 30 node run.mjs
