#!/usr/bin/env bash
# posthog-node 5.70.0 with a server that is out for longer than the client's tries of one batch.
# Guess: a batch whose tries are used up stays queued (the queue is bounded) and goes with the next flush, the same for
# a refused connection, a 503 and a 429: none of them says that the events are wrong.
# Seen: after a closed connection the batch goes with the next flush; after 503 and 429 it is dropped. A Retry-After
# does not lengthen the waits between the tries.
# So a server that cannot take events for a while loses fewer of them by closing connections than by answering 503.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund posthog-node@5.70.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { PostHog } from 'posthog-node';
const afterOutage = async (answer) => {
  const batches = [];
  let isOut = true;
  const server = createServer(async (request, response) => {
    const { batch } = JSON.parse((await request.toArray()).join(''));
    batches.push(batch.map(({ event }) => event).join(' and '));
    if (isOut && answer === 'closed') request.socket.destroy();
    else response.writeHead(isOut ? answer : 200, { 'retry-after': '30' }).end('{}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new PostHog('key', {
    host: `http://127.0.0.1:${server.address().port}`,
    flushInterval: 60_000,
    fetchRetryCount: 2,
    fetchRetryDelay: 20,
    disableCompression: true,
  });
  client.capture({ distinctId: 'someone', event: 'first' });
  const startMs = Date.now();
  await client.flush().catch(() => {});
  const isPatient = Date.now() - startMs > 25_000;
  const tries = batches.splice(0).length;
  isOut = false;
  client.capture({ distinctId: 'someone', event: 'second' });
  await client.shutdown();
  server.closeAllConnections();
  server.close();
  return `${tries} tries${isPatient ? ' as told by Retry-After' : ''}, then sent: ${batches.join('; ')}`;
};
const seen = {};
for (const answer of ['closed', 429, 503]) seen[answer] = await afterOutage(answer);
console.log('posthog-node 5.70.0:', seen);
assert.deepStrictEqual(seen, {
  429: '3 tries, then sent: second',
  503: '3 tries, then sent: second',
  closed: '3 tries, then sent: first and second',
});
NODE
timeout 120 node run.mjs
