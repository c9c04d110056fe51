#!/usr/bin/env bash
# A batch that a server refuses for the moment (503), sent by @dittofeed/sdk-node 0.1.2.
# Guess: flush() tries again, or it rejects and the batch stays for the next flush(), as in the SDKs whose calls it
# takes over.
# Seen: one request is made. flush() rejects, and the batch is gone: the next flush() sends what came later, and no
# error holds the lost calls.
# So a restart of the server loses events; whoever must not lose them keeps each call until a flush has resolved.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @dittofeed/sdk-node@0.1.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { DittofeedSdk } from '@dittofeed/sdk-node';
const requests = [];
let status = 503;
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  requests.push({ status, events: JSON.parse(body).batch.map(({ event }) => event) });
  response.writeHead(status).end();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
await DittofeedSdk.init({ writeKey: 'Basic a2V5', host: `http://127.0.0.1:${server.address().port}` });
const call = (event) => DittofeedSdk.track({ userId: 'someone', event, properties: {} });
call('one');
call('two');
const first = await DittofeedSdk.flush().catch(({ message }) => message);
status = 204;
call('three');
await DittofeedSdk.flush();
await DittofeedSdk.flush();
console.log('@dittofeed/sdk-node 0.1.2:', first, requests);
assert.strictEqual(first, 'HTTP error! status: 503');
assert.deepStrictEqual(requests, [
  { status: 503, events: ['one', 'two'] },
  { status: 204, events: ['three'] },
]);
process.exit(0);
NODE
timeout 60 node run.mjs
