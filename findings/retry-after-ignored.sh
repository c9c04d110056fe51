#!/usr/bin/env bash
# A batch of events that is refused with 429 and `Retry-After: 2`, sent again by seven packages that retry requests,
# each set to retry a POST, and after 50 ms where a delay has to be given.
# Guess: whoever retries a 429 reads Retry-After, as Node's undici, got and ky do.
# Seen: axios-retry 4.5.0 (with its own delays) and retry-axios 4.0.3 wait the two seconds. wretch 2.11.1, ofetch 1.5.1,
# xior 0.8.5, fetch-retry 6.0.0 and an axios-retry with a `retryDelay` of its user send after 50 ms, superagent 10.4.2
# at once. wretch sends again too what was refused with 400.
# So a server that limits its senders sees a batch several times at once: it keeps refusals cheap.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 240 npm install --silent --no-audit --no-fund axios@1.21.1 axios-retry@4.5.0 retry-axios@4.0.3 wretch@2.11.1 \
  superagent@10.4.2 xior@0.8.5 ofetch@1.5.1 fetch-retry@6.0.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import fetchRetry from 'fetch-retry';
import { ofetch } from 'ofetch';
import * as retryAxios from 'retry-axios';
import superagent from 'superagent';
import wretch from 'wretch';
import { retry } from 'wretch/middlewares';
import xior from 'xior';
import xiorRetry from 'xior/plugins/error-retry';
let status = 429;
let times = [];
const server = createServer(async (request, response) => {
  for await (const _ of request);
  times.push(performance.now());
  response.writeHead(times.length === 1 ? status : 200, { 'content-type': 'text/plain', 'retry-after': '2' }).end('x');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/batch`;
const body = JSON.stringify({ batch: [{ event: 'visit' }] });
const headers = { 'content-type': 'application/json' };
const first = axios.create();
axiosRetry(first, { retries: 2, retryCondition: () => true });
const firstWithDelay = axios.create();
axiosRetry(firstWithDelay, { retries: 2, retryCondition: () => true, retryDelay: () => 50 });
const second = axios.create();
retryAxios.attach(second);
const third = xior.create();
third.plugins.use(xiorRetry({ retryTimes: 2, retryInterval: 50, enableRetry: () => true }));
const withRetries = fetchRetry(fetch, { retries: 2, retryOn: [429], retryDelay: 50 });
const inWretch = wretch(url).middlewares([retry({ maxAttempts: 2, delayTimer: 50 })]).headers(headers);
const senders = {
  'axios-retry': () => first.post(url, body, { headers }),
  'axios-retry with retryDelay': () => firstWithDelay.post(url, body, { headers }),
  'retry-axios': () => second.post(url, body, { headers, raxConfig: { httpMethodsToRetry: ['POST'], retry: 2 } }),
  wretch: () => inWretch.post(body).res(),
  ofetch: () => ofetch(url, { method: 'POST', body, headers, retry: 2, retryDelay: 50 }),
  xior: () => third.post(url, { batch: [{ event: 'visit' }] }),
  'fetch-retry': () => withRetries(url, { method: 'POST', body, headers }),
  superagent: () => superagent.post(url).set(headers).retry(2).send(body),
};
const seen = {};
for (const [name, send] of Object.entries(senders)) {
  times = [];
  await send();
  assert.strictEqual(times.length, 2);
  seen[name] = times[1] - times[0] > 1900 ? 'waits two seconds' : 'does not';
}
status = 400;
times = [];
await inWretch.post(body).res();
console.log(`Node ${process.version}, after Retry-After: 2:`, seen, `wretch after 400: ${times.length} requests`);
assert.deepStrictEqual(seen, {
  'axios-retry': 'waits two seconds',
  'axios-retry with retryDelay': 'does not',
  'retry-axios': 'waits two seconds',
  wretch: 'does not',
  ofetch: 'does not',
  xior: 'does not',
  'fetch-retry': 'does not',
  superagent: 'does not',
});
assert.strictEqual(times.length, 2);
process.exit(0);
NODE
timeout 60 node run.mjs
