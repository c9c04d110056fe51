#!/usr/bin/env bash
# Which field of a message has the time that a caller gives @rudderstack/rudder-sdk-node 3.0.13.
# Guess: the caller's `timestamp` becomes `originalTimestamp`, from which servers compute `timestamp` with `sentAt`, as
# the vendor's specification describes both fields; a server that reads `originalTimestamp` has the right time.
# Seen: both are sent. `timestamp` is the caller's, `originalTimestamp` the moment of the call. A server that prefers
# `originalTimestamp` puts events of history at the moment at which they were sent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @rudderstack/rudder-sdk-node@3.0.13 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import Analytics from '@rudderstack/rudder-sdk-node';
const messages = [];
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString();
  messages.push(...JSON.parse(text).batch);
  response.writeHead(200).end('OK');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const dataPlaneUrl = `http://127.0.0.1:${server.address().port}`;
const client = new Analytics('key', { dataPlaneUrl, logLevel: 'none', flushAt: 1 });
const timestamp = new Date('2024-02-03T04:05:06.789Z');
const calledMs = Date.now();
client.track({ userId: 'someone', event: 'event', timestamp });
for (let tries = 0; messages.length === 0 && tries < 200; tries++)
  await new Promise((resolve) => setTimeout(resolve, 50));
server.closeAllConnections();
server.close();
const [message] = messages;
console.log('@rudderstack/rudder-sdk-node 3.0.13, given 2024:', {
  timestamp: message.timestamp,
  originalTimestamp: message.originalTimestamp,
});
assert.strictEqual(new Date(message.timestamp).getTime(), timestamp.getTime());
assert.ok(Math.abs(new Date(message.originalTimestamp).getTime() - calledMs) < 60_000);
process.exit(0);
NODE
timeout 60 node run.mjs
