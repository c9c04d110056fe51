#!/usr/bin/env bash
# A batch that a server, or a proxy before it, finds too large (413): posthog-js 1.449.2 in the machine's Chromium, beside
# posthog-node 5.70.0 and mixpanel-browser 2.83.0.
# Guess: a 413 is about the batch, so all three send its events again in smaller batches.
# Seen: posthog-node and mixpanel-browser do, and nothing is lost. posthog-js drops the whole batch at the first 413, without
# a word, though each event alone would have been taken; after a 503 it sends the same batch again.
# So a server for posthog-js takes any batch that the SDK can make, and answers 413 to nothing but a single event.
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'skipped: needs Chromium'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
timeout 300 npm install --silent --no-audit --no-fund esbuild@0.28.2 playwright-core@1.65.1 posthog-js@1.449.2 \
  posthog-node@5.70.0 mixpanel-browser@2.83.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { PostHog } from 'posthog-node';
const posthog = `import posthog from 'posthog-js';
  posthog.init('phc_key', { api_host: location.origin, capture_pageview: false, autocapture: false, capture_pageleave: false,
    disable_session_recording: true, disable_surveys: true, advanced_disable_flags: true, opt_out_useragent_filter: true });
  for (const name of ['a', 'b', 'c', 'd']) posthog.capture(name);`;
const mixpanel = `import mixpanel from 'mixpanel-browser';
  mixpanel.init('key', { api_host: location.origin, track_pageview: false, batch_flush_interval_ms: 300 });
  for (const name of ['a', 'b', 'c', 'd']) mixpanel.track(name);`;
let script = '';
let refusal = 413;
let requests = [];
const namesIn = (body) => {
  const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString();
  const data = new URLSearchParams(text).get('data');
  const plain = data === null ? text : data.startsWith('[') ? data : Buffer.from(data, 'base64').toString();
  const batch = JSON.parse(plain);
  return [batch.batch ?? batch].flat().map((event) => event.event).sort();
};
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  if (request.url === '/tracker.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  if (request.method !== 'POST') {
    response.writeHead(200, { 'content-type': 'text/html' });
    return response.end('<!doctype html><title>shop</title><script src="/tracker.js"></script>');
  }
  const names = namesIn(Buffer.concat(parts));
  // Whole batches are too large; a 503 is for the first request alone.
  const status = (refusal === 413 ? names.length > 3 : requests.length === 0) ? refusal : 200;
  requests.push({ status, names });
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"status":1}');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}`;
const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';
const executablePath = process.argv[2];
const browser = await chromium.launch({ executablePath, chromiumSandbox: false, args: [`--user-agent=${agent}`] });
const taken = () => requests.filter(({ status }) => status === 200).flatMap(({ names }) => names).sort().join('');
// Twenty seconds are several of posthog-js's waits between two tries.
const settle = async () => {
  for (let tries = 0; taken() !== 'abcd' && tries < 200; tries++) await wait(100);
  return { refused: requests.filter(({ status }) => status !== 200).length, taken: taken() };
};
const seen = {};
try {
  for (const [name, contents, status] of [
    ['posthog-js, 413', posthog, 413],
    ['posthog-js, 503', posthog, 503],
    ['mixpanel-browser, 413', mixpanel, 413],
  ]) {
    const stdin = { contents, resolveDir: process.cwd() };
    script = (await build({ stdin, bundle: true, format: 'iife', write: false, logLevel: 'error' })).outputFiles[0].text;
    [refusal, requests] = [status, []];
    const context = await browser.newContext();
    // Some of them take a driven browser for a bot.
    await context.addInitScript("Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => undefined })");
    const page = await context.newPage();
    await page.goto(site);
    seen[name] = await settle();
    await context.close();
  }
} finally {
  await browser.close();
}
[refusal, requests] = [413, []];
const inNode = new PostHog('key', { host: site, flushAt: 4, flushInterval: 200 });
for (const event of ['a', 'b', 'c', 'd']) inNode.capture({ distinctId: 'ann', event });
seen['posthog-node, 413'] = await settle();
server.closeAllConnections();
server.close();
for (const one of Object.values(seen)) one.refused = one.refused > 0;
console.log('four events, whether a request was refused, and what was taken in the end:', seen);
assert.deepStrictEqual(seen, {
  'posthog-js, 413': { refused: true, taken: '' },
  'posthog-js, 503': { refused: true, taken: 'abcd' },
  'mixpanel-browser, 413': { refused: true, taken: 'abcd' },
  'posthog-node, 413': { refused: true, taken: 'abcd' },
});
process.exit(0);
NODE
timeout 180 node run.mjs "$browser"
