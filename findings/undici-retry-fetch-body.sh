#!/usr/bin/env bash
# RetryAgent of undici 8.13.1 and 7.30.2 under fetch(), with an event as a text in the body and a server that answers 503 once.
# Guess: a text is sent again as it was, as request() of the same package does; or the 503 is given to the caller.
# Seen: fetch() turns every body into a stream, which is used up: the second try is a request with content-length 0 and no
# body, and the caller gets "fetch failed" (UND_ERR_REQ_CONTENT_LENGTH_MISMATCH), neither the 503 nor the answer to the
# second request. request() sends the text again; so it is with the interceptor `retry`.
# So a sender with fetch() tries again by itself; and a receiver meets empty bodies that nobody wrote.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
timeout 180 npm install --silent --no-audit --no-fund undici-8@npm:undici@8.13.1 undici-7@npm:undici@7.30.2 \
  >/dev/null 2>&1
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
// The release 8 asks for Node 22.
const releases = ['undici-7', ...(Number(process.versions.node.split('.')[0]) >= 22 ? ['undici-8'] : [])];
let requests = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  requests.push(`content-length ${request.headers['content-length']}: ${text}`);
  response.writeHead(requests.length === 1 ? 503 : 200).end();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}/`;
const body = '{"event":"signed_up"}';
const whole = `content-length ${body.length}: ${body}`;
for (const release of releases) {
  const { Agent, RetryAgent, fetch, interceptors, request } = await import(release);
  const ways = { RetryAgent: new RetryAgent(new Agent(), { minTimeout: 50 }) };
  ways.retry = new Agent().compose(interceptors.retry({ minTimeout: 50 }));
  for (const [way, dispatcher] of Object.entries(ways)) {
    const seen = {};
    const calls = {
      request: async () => (await request(site, { method: 'PUT', body, dispatcher })).statusCode,
      fetch: async () => (await fetch(site, { method: 'PUT', body, dispatcher })).status,
    };
    for (const [name, call] of Object.entries(calls)) {
      requests = [];
      const outcome = await call().catch((error) => error.cause.code);
      for (let tries = 0; requests.length < 2 && tries < 100; tries++) await new Promise((resolve) => setTimeout(resolve, 50));
      seen[name] = { outcome, requests };
    }
    console.log(release, way, seen);
    assert.deepStrictEqual(seen, {
      request: { outcome: 200, requests: [whole, whole] },
      fetch: { outcome: 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH', requests: [whole, 'content-length 0: '] },
    });
  }
}
process.exit(0);
NODE
timeout 60 node run.mjs
