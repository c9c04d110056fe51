#!/usr/bin/env bash
# Connections of matomo-tracker 2.2.4 on Node 20 and later, whose requests keep connections alive.
# Guess: events tracked one after the other go over one connection, as with any client of Node's http.
# Seen: track() never reads the answer, so that its connection is never free: each event opens one, which stays open
# until the server closes it. trackBulk(), which reads the answer, uses one connection for all.
# So a collector needs a short keep-alive time and a bound of connections for each peer, or one busy application holds
# as many sockets as it has sent events.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund matomo-tracker@2.2.4 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import MatomoTracker from 'matomo-tracker';
const openAfter = async (track) => {
  let open = 0;
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'image/gif' }).end(Buffer.alloc(43));
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    open++;
    socket.on('close', () => open--);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tracker = new MatomoTracker(1, `http://127.0.0.1:${server.address().port}/matomo.php`);
  for (let event = 0; event < 20; event++) {
    const answered = new Promise((resolve) => server.once('request', (_, response) => response.on('finish', resolve)));
    track(tracker, { url: `https://shop.test/${event}` });
    await answered;
    await wait(100);
  }
  const seen = open;
  server.closeAllConnections();
  server.close();
  return seen;
};
const seen = {
  'track()': await openAfter((tracker, event) => tracker.track(event)),
  'trackBulk()': await openAfter((tracker, event) => tracker.trackBulk([event])),
};
console.log('matomo-tracker 2.2.4, open connections after 20 events, one after the other:', seen);
assert.deepStrictEqual(seen, { 'track()': 20, 'trackBulk()': 1 });
NODE
timeout 60 node run.mjs
