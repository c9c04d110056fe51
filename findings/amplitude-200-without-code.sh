#!/usr/bin/env bash
# What @amplitude/analytics-node 1.5.73 and its flushMaxRetries (here 4) make of a 200 with a body that is not Amplitude's own.
# Guess: the status says that the event is taken; the body is of interest for failures alone.
# Seen: the status is not looked at once the body is a JSON object: its `code` is. {}, {"status":"ok"} and [] count as a
# failure: the event is sent again until its tries are used up, and its promise ends with 500. An empty body, one that is
# no JSON, null, and {"code":200} are successes.
# So a server or a proxy for this SDK answers 200 with {"code":200} or with nothing: a polite {"status":"ok"} multiplies the
# traffic, and events without insert_id.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @amplitude/analytics-node@1.5.73 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInstance } from '@amplitude/analytics-node';
let body;
let requests;
const server = createServer(async (request, response) => {
  for await (const _ of request);
  requests++;
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const serverUrl = `http://127.0.0.1:${server.address().port}`;
const seen = {};
for (body of ['{}', '{"status":"ok"}', '[]', 'null', '', 'ok', '{"code":200}']) {
  requests = 0;
  const client = createInstance();
  await client.init('key', { serverUrl, flushIntervalMillis: 50, flushMaxRetries: 4, logLevel: 0 }).promise;
  const { code } = await client.track('signed_up', {}, { user_id: 'u' }).promise;
  seen[body] = [requests, code];
}
console.log('@amplitude/analytics-node 1.5.73, requests and outcome of one event by the body of a 200:', seen);
assert.deepStrictEqual(seen, {
  '{}': [4, 500],
  '{"status":"ok"}': [4, 500],
  '[]': [4, 500],
  null: [1, 200],
  '': [1, 200],
  ok: [1, 200],
  '{"code":200}': [1, 200],
});
process.exit(0);
NODE
timeout 60 node run.mjs
