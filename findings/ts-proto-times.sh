#!/usr/bin/env bash
# Moments before 1970 and durations in code that ts-proto 2.18.0 generates, against @bufbuild/protobuf 2.17.0.
# Guess: a Date becomes a Timestamp as the type describes it, whose nanos count forward from the second, and fromJSON()
# reads the JSON that every other implementation writes.
# Seen: half a second before 1970 is 0 seconds and -500,000,000 nanos, which the type forbids: protobuf-es does not
# write such a message as JSON. fromJSON() reads the duration "1.5s" as nothing, without an error, and the paths
# "pageUrl" of a FieldMask as that, not as page_url; toJSON() writes a duration as an object, which protobuf-es refuses.
# So moments before 1970 are cut to whole seconds before they are encoded, and durations are fields of numbers, or
# `useDuration=string` is set.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
timeout 240 npm install --silent --no-audit --no-fund \
  @bufbuild/buf@1.75.0 @bufbuild/protobuf@2.17.0 esbuild@0.28.2 ts-proto@2.18.0 >/dev/null
mkdir definitions
cat > definitions/visit.proto <<'PROTO'
syntax = "proto3";
import "google/protobuf/duration.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/timestamp.proto";
message Visit {
  google.protobuf.Timestamp at = 1;
  google.protobuf.Duration length = 2;
  google.protobuf.FieldMask fields = 3;
}
PROTO
cat > buf.gen.yaml <<'YAML'
version: v2
plugins:
  - local: ./node_modules/.bin/protoc-gen-ts_proto
    out: generated
YAML
timeout 60 node_modules/.bin/buf generate definitions --include-imports
timeout 60 node_modules/.bin/esbuild generated/visit.ts \
  --bundle --platform=node --format=esm --outfile=visit.mjs --log-level=error
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { fromBinary, fromJson, toJson } from '@bufbuild/protobuf';
import { DurationSchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { Visit } from './visit.mjs';
const moments = {};
for (const text of ['2026-01-02T03:04:05.678Z', '1969-12-31T23:59:59.500Z', '1965-05-05T00:00:00.001Z']) {
  const bytes = Visit.encode(Visit.fromPartial({ at: new Date(text) })).finish();
  const moment = fromBinary(TimestampSchema, bytes.subarray(2));
  const asJson = () => toJson(TimestampSchema, moment);
  if (text.startsWith('19')) assert.throws(asJson, /nanos must not be negative/);
  else assert.strictEqual(asJson(), text);
  moments[text] = [moment.seconds, moment.nanos];
}
const read = Visit.fromJSON({ length: '1.5s', fields: 'pageUrl' });
const written = Visit.toJSON(Visit.fromPartial({ length: { seconds: 1, nanos: 500_000_000 } }));
console.log('ts-proto 2.18.0, seconds and nanos:', moments, 'from JSON:', read, 'to JSON:', written);
assert.deepStrictEqual(moments, {
  '2026-01-02T03:04:05.678Z': [1_767_323_045n, 678_000_000],
  '1969-12-31T23:59:59.500Z': [0n, -500_000_000],
  '1965-05-05T00:00:00.001Z': [-147_052_799n, -999_000_000],
});
assert.deepStrictEqual([read.length, read.fields], [{ seconds: 0, nanos: 0 }, ['pageUrl']]);
assert.deepStrictEqual(written, { length: { seconds: 1, nanos: 500_000_000 } });
assert.throws(() => fromJson(DurationSchema, written.length));
assert.strictEqual(fromJson(DurationSchema, '1.5s').nanos, 500_000_000);
NODE
timeout 60 node run.mjs
