#!/usr/bin/env bash
# What Message.fromObject() of protobufjs 8.8.1 makes of JSON with a name that an enum does not have, as a newer
# sender's.
# Guess: an unknown name is an error, as proto3's JSON form asks for; or it is kept, as an unknown number on the wire
# is.
# Seen: it is dropped without a word. A single field becomes the enum's first value, a list gets shorter, so that it no
# longer fits a list beside it, an entry of a map and a choice of a oneof are gone. An int64 as text is read up to the
# first letter or comma ("1e3" is 1, "1,000" is 1), while an int32 "1e3" is 1000.
# So a consumer that is older than its sender counts such events as the default kind: call verify() first, which tells
# of the names, though it refuses each int64 as text with them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund protobufjs@8.8.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import protobuf from 'protobufjs';
const { root } = protobuf.parse(`syntax = "proto3";
  enum Kind { VIEW = 0; CLICK = 1; }
  message Batch { Kind kind = 1; repeated Kind kinds = 2; repeated string pages = 3; map<string, Kind> named = 4;
    oneof what { Kind one = 5; string text = 6; } int64 cents = 7; int32 count = 8; }`);
const Batch = root.lookupType('Batch');
const read = (json) => {
  const message = Batch.decode(Batch.encode(Batch.fromObject(json)).finish());
  return Batch.toObject(message, { enums: String, longs: String });
};
const seen = {
  kind: Batch.toObject(Batch.fromObject({ kind: 'SCROLL' }), { enums: String, defaults: true }).kind,
  list: read({ kinds: ['CLICK', 'SCROLL', 'VIEW'], pages: ['/a', '/b', '/c'] }),
  map: read({ named: { a: 'CLICK', b: 'SCROLL' } }),
  oneof: read({ one: 'SCROLL' }),
  'on the wire': Batch.toObject(Batch.decode(Uint8Array.from([8, 9])), { enums: String }),
  texts: [read({ cents: '1e3' }), read({ cents: '1,000' }), read({ cents: '9007199254740993' }), read({ count: '1e3' })],
  verify: [Batch.verify({ kind: 'SCROLL' }), Batch.verify({ cents: '9007199254740993' })],
};
console.dir({ 'protobufjs 8.8.1': seen }, { depth: 5 });
assert.deepStrictEqual(seen, {
  kind: 'VIEW',
  list: { kinds: ['CLICK', 'VIEW'], pages: ['/a', '/b', '/c'] },
  map: { named: { a: 'CLICK' } },
  oneof: {},
  'on the wire': { kind: 9 },
  texts: [{ cents: '1' }, { cents: '1' }, { cents: '9007199254740993' }, { count: 1000 }],
  verify: ['kind: enum value expected', 'cents: integer|Long expected'],
});
NODE
timeout 30 node run.mjs
