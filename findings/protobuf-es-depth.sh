#!/usr/bin/env bash
# How deep a google.protobuf.Value may nest for @bufbuild/protobuf 2.17.0, which reads 100 messages within each other.
# Guess: the bound is the binary format's alone, where each level of an object is three messages (Struct, the entry of
# its map, Value), so that objects nest 33 levels deep there, and as deep as one likes in JSON.
# Seen: entries of maps do not count, so that binary has 49 levels, of objects as of lists; JSON is bounded too, but
# counts a level once and reads 98. Writing has no bound.
# So what came in as JSON, or was made by code, may be written to binary and then be read by nobody: bound the levels
# before they are stored.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @bufbuild/protobuf@2.17.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { create, fromBinary, fromJson, toBinary } from '@bufbuild/protobuf';
import { ListValueSchema, StructSchema, ValueSchema } from '@bufbuild/protobuf/wkt';
const valueOf = (levels, isObject) => {
  let value = create(ValueSchema, { kind: { case: 'boolValue', value: true } });
  for (let level = 0; level < levels; level++) {
    const kind = isObject
      ? { case: 'structValue', value: create(StructSchema, { fields: { a: value } }) }
      : { case: 'listValue', value: create(ListValueSchema, { values: [value] }) };
    value = create(ValueSchema, { kind });
  }
  return value;
};
const jsonOf = (levels, isObject) => {
  let json = true;
  for (let level = 0; level < levels; level++) json = isObject ? { a: json } : [json];
  return json;
};
const deepest = (read) => {
  let levels = 0;
  for (;;) {
    try {
      read(levels + 1);
    } catch (error) {
      return `${levels}, then ${/maximum recursion depth of \d+/.exec(error.message)?.[0]}`;
    }
    if (++levels === 200) return 'at least 200';
  }
};
const seen = {};
for (const [name, isObject] of [['objects', true], ['lists', false]]) {
  const binary = (levels) => toBinary(ValueSchema, valueOf(levels, isObject));
  seen[`${name} written to binary`] = deepest(binary);
  seen[`${name} read from binary`] = deepest((levels) => fromBinary(ValueSchema, binary(levels)));
  seen[`${name} read from JSON`] = deepest((levels) => fromJson(ValueSchema, jsonOf(levels, isObject)));
}
console.log(seen);
const then = 'then maximum recursion depth of 100';
for (const name of ['objects', 'lists']) {
  assert.strictEqual(seen[`${name} written to binary`], 'at least 200');
  assert.strictEqual(seen[`${name} read from binary`], `49, ${then}`);
  assert.strictEqual(seen[`${name} read from JSON`], `98, ${then}`);
}
NODE
timeout 30 node run.mjs
