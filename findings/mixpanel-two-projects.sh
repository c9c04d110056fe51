#!/usr/bin/env bash
# mixpanel 0.24.0 with the same events for two projects, as while one moves from one project or region to another.
# Guess: each client sends its own token, whatever was done before with the objects that it is given.
# Seen: track_batch writes its token into the caller's events and keeps a token that it finds, so that the second
# client's batch goes to the first project too: there twice, in the second never. Both callbacks tell of success.
# So events that were once sent are cloned before they are sent elsewhere; and a receiver sees valid tokens only.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund mixpanel@0.24.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import mixpanel from 'mixpanel';
const tokens = [];
const server = createServer(async (request, response) => {
  const form = new URLSearchParams((await request.toArray()).join(''));
  const events = JSON.parse(Buffer.from(form.get('data'), 'base64'));
  tokens.push(events.map(({ properties }) => properties.token).join());
  response.end('1');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const clientOf = (token) => mixpanel.init(token, { protocol: 'http', host: '127.0.0.1', port: server.address().port });
const sendBoth = async (eventsFor) => {
  for (const token of ['old', 'new']) await promisify(clientOf(token).track_batch)(eventsFor());
  return tokens.splice(0);
};
const event = { event: 'bought', properties: { distinct_id: 'someone', amount: 5 } };
const seen = {
  clones: await sendBoth(() => [structuredClone(event)]),
  'the same objects': await sendBoth(() => [event]),
};
server.closeAllConnections();
server.close();
console.log('mixpanel 0.24.0, tokens received from the clients "old" and "new":', seen);
assert.deepStrictEqual(seen, { clones: ['old', 'new'], 'the same objects': ['old', 'old'] });
NODE
timeout 60 node run.mjs
