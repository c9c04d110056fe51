#!/usr/bin/env bash
# @openpanel/sdk 1.3.1 with a server that takes an event and says so in another way than OpenPanel's own.
# Guess: every 2xx means that the event is taken, and a second try has an id by which a server drops it.
# Seen: 201, 204, and 200 with a text that is no JSON count as failures: the event is sent four times, and no copy has
# an id or a time, so that a server cannot tell them from four events. 400 is tried four times, too.
# So a server for this SDK answers 200 or 202 with JSON or without a body, and nothing else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @openpanel/sdk@1.3.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { OpenPanel } from '@openpanel/sdk';
console.error = () => {};
const copiesAt = async (status, text) => {
  const bodies = [];
  const server = createServer(async (request, response) => {
    bodies.push((await request.toArray()).join(''));
    response.writeHead(status).end(text);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const apiUrl = `http://127.0.0.1:${server.address().port}`;
  await new OpenPanel({ clientId: 'shop', apiUrl }).track('bought', { amount: 5 });
  server.closeAllConnections();
  server.close();
  assert.deepStrictEqual(new Set(bodies), new Set([
    '{"type":"track","payload":{"name":"bought","properties":{"amount":5}}}',
  ]));
  return bodies.length;
};
const answers = { '200 {}': [200, '{}'], 202: [202], '200 ok': [200, 'ok'], 201: [201, '{}'], 204: [204], 400: [400] };
const copies = await Promise.all(Object.values(answers).map((answer) => copiesAt(...answer)));
const seen = Object.fromEntries(Object.keys(answers).map((name, index) => [name, copies[index]]));
console.log('@openpanel/sdk 1.3.1, copies of one event by the answer:', seen);
assert.deepStrictEqual(seen, { '200 {}': 1, 202: 1, '200 ok': 4, 201: 4, 204: 4, 400: 4 });
NODE
timeout 60 node run.mjs
