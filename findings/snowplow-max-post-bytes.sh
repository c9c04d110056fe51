#!/usr/bin/env bash
# maxPostBytes of @snowplow/node-tracker 4.8.0 (40,000 unless told), and "willRetry" of its onRequestFailure.
# Guess: no body is longer than maxPostBytes, and what is told to be tried again is tried again.
# Seen: a batch is closed by the event that passes the bound, so two events of 30,000 bytes make one body of 60,000. An
# event above the bound goes alone and is never queued: a 503 loses it, though willRetry is true. A queued event is
# kept, but no timer sends it: it waits for flush() or for further events.
# So a collector has to take twice the bound, and large events get one chance.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @snowplow/node-tracker@4.8.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { buildStructEvent, newTracker } from '@snowplow/node-tracker';
const send = async (sizes, firstStatus) => {
  const bodies = [];
  let isToldToRetry = false;
  const server = createServer(async (request, response) => {
    bodies.push((await request.toArray()).join('').length);
    response.writeHead(bodies.length === 1 ? firstStatus : 200).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tracker = newTracker(
    { namespace: 'shop', appId: 'shop' },
    {
      endpoint: `http://127.0.0.1:${server.address().port}`,
      bufferSize: 100,
      onRequestFailure: ({ willRetry }) => { isToldToRetry = willRetry; },
    },
  );
  for (const size of sizes) tracker.track(buildStructEvent({ category: 'note', action: 'x'.repeat(size) }));
  await wait(100);
  await tracker.flush();
  await wait(2_000);
  const bodiesByTimer = bodies.length;
  await tracker.flush();
  server.closeAllConnections();
  server.close();
  return { isToldToRetry, bodiesByTimer, bodies: bodies.map((bytes) => Math.floor(bytes / 10_000) * 10_000) };
};
const seen = {
  'two of 30,000 bytes, taken': await send([30_000, 30_000], 200),
  'one of 30,000 bytes, at first answered 503': await send([30_000], 503),
  'one of 50,000 bytes, at first answered 503': await send([50_000], 503),
};
console.log('@snowplow/node-tracker 4.8.0:', seen);
assert.deepStrictEqual(seen, {
  'two of 30,000 bytes, taken': { isToldToRetry: false, bodiesByTimer: 1, bodies: [60_000] },
  'one of 30,000 bytes, at first answered 503': { isToldToRetry: true, bodiesByTimer: 1, bodies: [30_000, 30_000] },
  'one of 50,000 bytes, at first answered 503': { isToldToRetry: true, bodiesByTimer: 1, bodies: [50_000] },
});
NODE
timeout 60 node run.mjs
