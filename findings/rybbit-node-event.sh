#!/usr/bin/env bash
# What @rybbit/node 1.0.0 sends for event(name, values), and what becomes of an event that a server has no room for.
# Guess: the values are the event's properties, as in every other SDK's track(name, properties); a 503 is tried again, or
# the promise is rejected.
# Seen: the second argument is spread over the request itself, beside site_id and api_key, so that a value named `type`
# replaces the kind of the request and there are no `properties`; these are the third argument, sent as a JSON text. A 503
# is neither tried again nor told: the promise is fulfilled, and nothing is written unless `debug` is set.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @rybbit/node@1.0.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { Rybbit } from '@rybbit/node';
const bodies = [];
let status = 200;
const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  bodies.push(JSON.parse(text));
  response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const analyticsHost = `http://127.0.0.1:${server.address().port}`;
const client = new Rybbit({ analyticsHost, siteId: '1', apiKey: 'key' });
await client.event('signed_up', { plan: 'pro', type: 'yearly' });
await client.event('signed_up', {}, { plan: 'pro' });
status = 503;
const outcome = await client.event('signed_up').then(() => 'fulfilled', () => 'rejected');
await new Promise((resolve) => setTimeout(resolve, 3_000));
server.closeAllConnections();
server.close();
const [second, third] = bodies;
console.log('@rybbit/node 1.0.0, values as second argument:', second);
console.log('as third:', third);
console.log(`a 503: ${outcome}, ${bodies.length - 2} request(s)`);
assert.deepStrictEqual(
  second,
  { site_id: '1', type: 'yearly', api_key: 'key', plan: 'pro', event_name: 'signed_up' },
);
assert.strictEqual(third.type, 'custom_event');
assert.strictEqual(third.properties, '{"plan":"pro"}');
assert.deepStrictEqual([outcome, bodies.length], ['fulfilled', 3]);
NODE
timeout 60 node run.mjs
