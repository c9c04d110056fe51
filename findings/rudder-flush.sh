#!/usr/bin/env bash
# flush() of @rudderstack/rudder-sdk-node 3.0.13 after 50 events in a row.
# Guess: its promise resolves when the server has answered for all events that were tracked before.
# Seen: it resolves with one of 50 answered. The first event is sent at once and alone; the others wait for its answer,
# are then all taken out of the queue, and a flush that finds the queue empty does not wait for them.
# So a process that ends after `await client.flush()` loses nearly all; the callbacks of the events tell the truth.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @rudderstack/rudder-sdk-node@3.0.13 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import Analytics from '@rudderstack/rudder-sdk-node';
let answered = 0;
const server = createServer(async (request, response) => {
  const { batch } = JSON.parse(gunzipSync(Buffer.concat(await request.toArray())));
  await wait(300);
  answered += batch.length;
  response.end('OK');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const dataPlaneUrl = `http://127.0.0.1:${server.address().port}`;
const client = new Analytics('key', { dataPlaneUrl, flushInterval: 60_000, logLevel: 'none' });
const called = Array.from({ length: 50 }, (_, index) => {
  return new Promise((resolve) => client.track({ userId: 'someone', event: `event ${index}` }, resolve));
});
await client.flush();
const answeredByFlush = answered;
await Promise.all(called);
server.closeAllConnections();
server.close();
const seen = { 'answered when flush() resolves': answeredByFlush, 'answered when all callbacks are called': answered };
console.log('@rudderstack/rudder-sdk-node 3.0.13:', seen);
assert.deepStrictEqual(seen, { 'answered when flush() resolves': 1, 'answered when all callbacks are called': 50 });
process.exit();
NODE
timeout 60 node run.mjs
