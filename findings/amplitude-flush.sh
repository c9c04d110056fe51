#!/usr/bin/env bash
# flush() of @amplitude/analytics-node 1.5.73 while its server answers one 503.
# Guess: flush() sends what is queued as the timer does: an event that meets a 503 stays in the queue and goes again.
# Seen: only the timer's sending tries again. flush() tries once, drops the events, and its promise resolves like a
# success; the next flush() has nothing to send. Only the promise of each event tells of the 503.
# So the usual flush() before a process ends is the one that loses events, and a server gets no second chance at them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @amplitude/analytics-node@1.5.73 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { createInstance } from '@amplitude/analytics-node';
const sentBy = async (isFlushed) => {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const code = ++requests === 1 ? 503 : 200;
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify({ code }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createInstance();
  const serverUrl = `http://127.0.0.1:${server.address().port}/2/httpapi`;
  await client.init('key', { serverUrl, flushIntervalMillis: isFlushed ? 60_000 : 50, logLevel: 0 }).promise;
  const { promise } = client.track('bought', {}, { user_id: 'someone' });
  if (isFlushed) {
    await client.flush().promise;
    await client.flush().promise;
  }
  const { code } = await promise;
  server.closeAllConnections();
  server.close();
  return `requests: ${requests}, code of the event: ${code}`;
};
const seen = { 'by the timer': await sentBy(false), 'by flush(), twice': await sentBy(true) };
console.log('@amplitude/analytics-node 1.5.73:', seen);
assert.deepStrictEqual(seen, {
  'by the timer': 'requests: 2, code of the event: 200',
  'by flush(), twice': 'requests: 1, code of the event: 503',
});
process.exit();
NODE
timeout 60 node run.mjs
