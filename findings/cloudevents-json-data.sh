#!/usr/bin/env bash
# Data of the type application/json in cloudevents 10.0.0, written to HTTP and read again by the same library.
# Guess: any JSON value comes back as it was, in binary mode (the value is the body) and in structured mode (a member).
# Seen: binary mode writes a string without quotes, so that a text that looks like JSON comes back as an object, and
# null comes back as "null"; 5 and true cannot be read: TypeError. Structured mode loses 0, false, "" and null. Of a
# time with nanoseconds both keep three digits, although the specification takes any.
# So events are given objects as data, and a receiver takes the body of binary mode for a text when it is no JSON.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund cloudevents@10.0.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { CloudEvent, HTTP } from 'cloudevents';
const time = '2026-01-01T10:00:00.123456789Z';
const readBack = (mode, data) => {
  const datacontenttype = 'application/json';
  const event = new CloudEvent({ id: '1', source: '/shop', type: 'bought', datacontenttype, time, data });
  try {
    return HTTP.toEvent(HTTP[mode](event));
  } catch (error) {
    return { data: error };
  }
};
const seen = {};
for (const mode of ['binary', 'structured']) {
  for (const data of [{ amount: 5 }, 'text', '{"amount":5}', 5, true, 0, false, '', null]) {
    const { data: read } = readBack(mode, data);
    const text = read instanceof Error ? read.name : JSON.stringify(read) ?? 'nothing';
    if (text !== JSON.stringify(data)) seen[`${mode} ${JSON.stringify(data)}`] = text;
  }
  seen[`${mode} ${time}`] = readBack(mode, {}).time;
}
console.log('cloudevents 10.0.0, what is read where that is another value:', seen);
assert.deepStrictEqual(seen, {
  'binary "{\\"amount\\":5}"': '{"amount":5}',
  'binary 5': 'TypeError',
  'binary true': 'TypeError',
  'binary null': '"null"',
  [`binary ${time}`]: '2026-01-01T10:00:00.123Z',
  'structured 0': 'nothing',
  'structured false': 'nothing',
  'structured ""': 'nothing',
  'structured null': 'nothing',
  [`structured ${time}`]: '2026-01-01T10:00:00.123Z',
});
NODE
timeout 30 node run.mjs
