#!/usr/bin/env bash
# Rows of @questdb/nodejs-client 4.2.0 (HTTP) whose flush() failed: a server that is out for longer than retry_timeout
# (here 0.5 s, else 10 s), or that answers one 429.
# Guess: rows stay in the buffer until a server has taken them (the README has it cleared after the sending), so that
# the next flush() brings them; and 429 is tried again, as 503 is.
# Seen: the buffer is empty before the request goes. flush() rejects, and the next one has only the rows that came
# after: those of the whole outage are lost, also for a caller who waits for each promise and tries again. 429 is tried
# once.
# So whoever flushes keeps the rows himself until the promise resolves.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund @questdb/nodejs-client@4.2.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { Sender } from '@questdb/nodejs-client';
let statusNow = 204;
let requests = 0;
let taken = '';
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    requests++;
    if (statusNow === 204) taken += body;
    response.writeHead(statusNow).end();
    if (statusNow === 429) statusNow = 204;
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address();
const options = 'protocol_version=1;auto_flush=off;retry_timeout=500';
const seen = {};
for (const status of [503, 429]) {
  requests = 0;
  taken = '';
  const sender = await Sender.fromConfig(`http::addr=127.0.0.1:${port};${options};`);
  const flush = () => sender.flush().then((sent) => (sent ? 'sent' : 'nothing to send'), () => 'failed');
  const outcomes = [];
  statusNow = status;
  await sender.table('events').intColumn('number', 1).at(1_000n, 'ms');
  outcomes.push(await flush());
  const tries = requests > 1 ? 'several' : 'one';
  statusNow = 204;
  outcomes.push(await flush());
  await sender.table('events').intColumn('number', 2).at(2_000n, 'ms');
  outcomes.push(await flush());
  await sender.close();
  seen[status] = { tries, flushes: outcomes.join(', '), rows: taken.match(/number=\d/g).join(' ') };
}
server.close();
console.log('@questdb/nodejs-client 4.2.0, by the status of the first answers, what the server took:', seen);
assert.deepStrictEqual(seen, {
  429: { tries: 'one', flushes: 'failed, nothing to send, sent', rows: 'number=2' },
  503: { tries: 'several', flushes: 'failed, nothing to send, sent', rows: 'number=2' },
});
NODE
timeout 60 node run.mjs
