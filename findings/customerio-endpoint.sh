#!/usr/bin/env bash
# The endpoint and the time limit of customerio-node 4.4.0, as given to TrackClient.
# Guess: `url: 'https://host:8443/api/v1'` asks port 8443, and a request ends after `timeout` (10 s unless told).
# Seen: the port of the URL is dropped and 443 is asked; only an option `port` counts. No request ends by `timeout`: it
# goes to Node's https, which tells of the time and leaves it to the caller to end the request. Nobody does.
# So tests, and gateways on ports of their own, need `port`, and each call needs a time limit around it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund customerio-node@4.4.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { TrackClient } from 'customerio-node';
let connections = 0;
const sockets = [];
const silent = createServer((socket) => {
  connections++;
  sockets.push(socket.on('error', () => {}).resume());
});
await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
const { port } = silent.address();
const outcomeOf = async (options) => {
  const before = connections;
  const told = new TrackClient('site', 'key', { timeout: 200, ...options }).track('someone', { name: 'bought' });
  const failed = told.catch((error) => `failed at port ${error.port}`);
  const outcome = await Promise.race([failed, wait(3_000, 'waits after 3 s')]);
  return `${outcome}, connections: ${connections - before}`;
};
const seen = {
  'port in the URL': await outcomeOf({ url: `https://127.0.0.1:${port}/api/v1` }),
  'port as an option': await outcomeOf({ url: 'https://127.0.0.1/api/v1', port }),
};
console.log('customerio-node 4.4.0 with a server that never answers, timeout 200:', seen);
assert.deepStrictEqual(seen, {
  'port in the URL': 'failed at port 443, connections: 0',
  'port as an option': 'waits after 3 s, connections: 1',
});
process.exit();
NODE
timeout 30 node run.mjs
