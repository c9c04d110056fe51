#!/usr/bin/env bash
# Moments as google.protobuf.Timestamp in @bufbuild/protobuf 2.17.0.
# Guess: timestampDate() drops what is below a millisecond, as Date does; timestampFromMs() takes what
# performance.timeOrigin + performance.now() gives, with its fraction; a date that no calendar has is refused.
# Seen: timestampDate() rounds, so that the last half millisecond of a day is the next day (and of a year, the next year).
# timestampFromMs() makes nanos with a fraction: the message cannot be written to binary, and its JSON has two points in the
# second. fromJson() takes 30 February for 2 March.
# So events near midnight are counted in another day by a service than by the database that has the nanoseconds, and a
# browser's precise clock needs Math.floor.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @bufbuild/protobuf@2.17.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { fromJson, toBinary, toJsonString } from '@bufbuild/protobuf';
import { timestampDate, timestampFromMs, TimestampSchema } from '@bufbuild/protobuf/wkt';
const dateOf = (text) => timestampDate(fromJson(TimestampSchema, text)).toISOString();
const precise = timestampFromMs(1_767_225_600_000.7);
let refusal = 'none';
try {
  toBinary(TimestampSchema, precise);
} catch (error) {
  refusal = error.message;
}
const seen = {
  '2026-12-31T23:59:59.999499999Z': dateOf('2026-12-31T23:59:59.999499999Z'),
  '2026-12-31T23:59:59.999500Z': dateOf('2026-12-31T23:59:59.999500Z'),
  '2026-02-30T00:00:00Z': dateOf('2026-02-30T00:00:00Z'),
  'milliseconds with a fraction, binary': refusal,
  'milliseconds with a fraction, JSON': toJsonString(TimestampSchema, precise),
};
console.log('@bufbuild/protobuf 2.17.0:', seen);
assert.deepStrictEqual(seen, {
  '2026-12-31T23:59:59.999499999Z': '2026-12-31T23:59:59.999Z',
  '2026-12-31T23:59:59.999500Z': '2027-01-01T00:00:00.000Z',
  '2026-02-30T00:00:00Z': '2026-03-02T00:00:00.000Z',
  'milliseconds with a fraction, binary':
    'cannot encode field google.protobuf.Timestamp.nanos to binary: invalid int32: 699951.171875',
  'milliseconds with a fraction, JSON': '"2026-01-01T00:00:00.000699951.171875Z"',
});
NODE
timeout 30 node run.mjs
