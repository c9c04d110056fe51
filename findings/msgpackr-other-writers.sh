#!/usr/bin/env bash
# Values that @msgpack/msgpack 3.1.3 writes and msgpackr 2.1.4 reads, and the other way round.
# Guess: MessagePack's types are few and fixed, so that what one writes is what the other reads, with numbers up to
# 2^53. (msgpackr's README says that uint64 and int64 are decoded by int64AsType as "bigint (default)"; one who tries it
# with its own numbers sees none.)
# Seen: msgpackr reads a time in milliseconds that another writer sent as a BigInt, which cannot be subtracted from a
# number (TypeError), and its own as a number, since it writes that as a double itself. What it writes for undefined is
# an object {type: 0} for the other.
# So a service passes its tests with one library at both ends and fails with the first event of another client. The
# option int64AsType: 'number' mends it, with useRecords: false beside it, or an Unpackr makes Maps of others' objects.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund msgpackr@2.1.4 @msgpack/msgpack@3.1.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { decode, encode } from '@msgpack/msgpack';
import { pack, Unpackr, unpack } from 'msgpackr';
const show = (value) => (typeof value === 'object' && value ? JSON.stringify(value) : `${typeof value} ${value}`);
const at = 1_767_225_600_123;
const other = Buffer.from(encode({ at }));
let difference = 'none';
try {
  difference = unpack(other).at - Date.now();
} catch (error) {
  difference = error.name;
}
const numberReader = new Unpackr({ int64AsType: 'number', useRecords: false });
const seen = {
  'msgpackr to msgpackr': show(unpack(pack({ at })).at),
  '@msgpack/msgpack to itself': show(decode(encode({ at })).at),
  'msgpackr to @msgpack/msgpack': show(decode(pack({ at })).at),
  '@msgpack/msgpack to msgpackr': show(unpack(other).at),
  'less Date.now()': difference,
  "int64AsType: 'number'": new Unpackr({ int64AsType: 'number' }).unpack(other).constructor.name,
  "int64AsType: 'number', useRecords: false": show(numberReader.unpack(other).at),
  'undefined, msgpackr to @msgpack/msgpack': show(decode(pack(undefined)).type),
};
assert.strictEqual(pack(at)[0], 0xcb, 'msgpackr writes no double.');
console.log('msgpackr 2.1.4 and @msgpack/msgpack 3.1.3:', seen);
assert.deepStrictEqual(seen, {
  'msgpackr to msgpackr': `number ${at}`,
  '@msgpack/msgpack to itself': `number ${at}`,
  'msgpackr to @msgpack/msgpack': `number ${at}`,
  '@msgpack/msgpack to msgpackr': `bigint ${at}`,
  'less Date.now()': 'TypeError',
  "int64AsType: 'number'": 'Map',
  "int64AsType: 'number', useRecords: false": `number ${at}`,
  'undefined, msgpackr to @msgpack/msgpack': 'number 0',
});
NODE
timeout 30 node run.mjs
