#!/usr/bin/env bash
# The event of a click that leads to another site (an outbound link, "pay now"), by the trackers' usual settings, in the
# machine's Chromium: posthog-js 1.449.2, mixpanel-browser 2.83.0, @openpanel/web 1.4.1, @plausible-analytics/tracker
# 0.4.6, @rybbit/js 0.6.2, @amplitude/analytics-browser 2.48.1.
# Guess: all six send what they hold while the page is left, by a beacon or a fetch with keepalive; their queues are for
# time on the page.
# Seen: five do. Amplitude's event stays in the browser and is sent when the visitor comes back to this site, on that
# day or never. With setTransport('beacon') and flush() in pagehide it is sent at once: Amplitude's own guide for the
# migration from its older SDK advises this listener.
# So outbound clicks and starts of payments are those of visitors who return, and their day is the one of the return.
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'skipped: needs Chromium'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
timeout 300 npm install --silent --no-audit --no-fund esbuild@0.28.2 playwright-core@1.65.1 posthog-js@1.449.2 \
  mixpanel-browser@2.83.0 @amplitude/analytics-browser@2.48.1 @openpanel/web@1.4.1 @plausible-analytics/tracker@0.4.6 \
  @rybbit/js@0.6.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
const amplitude = `import { flush, init, setTransport, track } from '@amplitude/analytics-browser';
  init('key', undefined, { serverUrl: location.origin + '/amplitude', remoteConfig: { fetchRemoteConfig: false },
    autocapture: false });
  window.track = track;`;
const trackers = {
  posthog: `import posthog from 'posthog-js';
    posthog.init('phc_key', { api_host: location.origin, capture_pageview: false, autocapture: false,
      capture_pageleave: false, disable_session_recording: true, disable_surveys: true, advanced_disable_flags: true,
      opt_out_useragent_filter: true });
    window.track = (name) => posthog.capture(name);`,
  mixpanel: `import mixpanel from 'mixpanel-browser';
    mixpanel.init('key', { api_host: location.origin });
    window.track = (name) => mixpanel.track(name);`,
  openpanel: `import { OpenPanel } from '@openpanel/web';
    const client = new OpenPanel({ apiUrl: location.origin, clientId: 'id' });
    window.track = (name) => client.track(name);`,
  plausible: `import { init, track } from '@plausible-analytics/tracker';
    init({ domain: 'shop.example', endpoint: location.origin + '/api/event', captureOnLocalhost: true,
      autoCapturePageviews: false });
    window.track = (name) => track(name, {});`,
  rybbit: `import rybbit from '@rybbit/js';
    rybbit.init({ analyticsHost: location.origin + '/api', siteId: '1' });
    window.track = (name) => rybbit.event(name, {});`,
  amplitude,
  'amplitude, flush() in pagehide': `${amplitude}
    addEventListener('pagehide', () => {
      setTransport('beacon');
      flush();
    });`,
};
let script = '';
let arrived = 0;
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  if (request.url === '/tracker.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  if (request.headers.accept?.includes('text/html')) {
    response.writeHead(200, { 'content-type': 'text/html' });
    const loaded = request.url === '/paid' ? '' : '<script src="/tracker.js"></script>';
    return response.end(`<!doctype html><title>shop</title>${loaded}`);
  }
  const body = Buffer.concat(parts);
  const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString();
  const sent = text.startsWith('data=') ? decodeURIComponent(text) : text;
  const plain = sent + Buffer.from(sent.replace(/^data=/, ''), 'base64').toString();
  if (plain.includes('leaving click')) arrived++;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(request.url === '/amplitude' ? '{"code":200}' : '{"status":1,"deviceId":"a","sessionId":"b"}');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';
const browser = await chromium.launch({
  executablePath: process.argv[2],
  chromiumSandbox: false,
  args: [`--user-agent=${agent}`],
});
const hasArrived = async (milliseconds) => {
  for (const end = Date.now() + milliseconds; arrived === 0 && Date.now() < end; ) await wait(50);
  return arrived > 0;
};
// When the event arrives, and the milliseconds until the page was left.
const tracked = async () => {
  const context = await browser.newContext();
  // Some of them take a driven browser for a bot.
  await context.addInitScript("Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => undefined })");
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${port}/shop`);
  await wait(1_500);
  arrived = 0;
  const start = performance.now();
  await page.evaluate(`void track('leaving click'); location.href = 'http://localhost:${port}/paid'`);
  await page.waitForURL('**/paid', { waitUntil: 'commit' });
  const leaving = performance.now() - start;
  let moment = 'while the page is left';
  if (!(await hasArrived(8_000))) {
    await page.goto(`http://127.0.0.1:${port}/shop`);
    moment = (await hasArrived(10_000)) ? 'when the visitor comes back' : 'never';
  }
  await context.close();
  return { moment, leaving };
};
const seen = {};
for (const [name, contents] of Object.entries(trackers)) {
  const stdin = { contents, resolveDir: process.cwd() };
  const define = { 'process.env.NODE_ENV': '"production"' };
  const built = await build({ stdin, bundle: true, format: 'iife', write: false, logLevel: 'error', define });
  script = built.outputFiles[0].text;
  // After a second a timer of Amplitude sends what it holds: a machine that leaves so late shows nothing.
  for (let repeats = 0; repeats <= 3; repeats++) {
    const { moment, leaving } = await tracked();
    seen[name] = moment;
    if (leaving <= 800) break;
    console.log(`${name}: leaving took ${Math.round(leaving)} ms`);
  }
}
await browser.close();
server.closeAllConnections();
server.close();
console.log('The event arrives:', seen);
for (const [name, moment] of Object.entries(seen)) {
  assert.strictEqual(moment, name === 'amplitude' ? 'when the visitor comes back' : 'while the page is left', name);
}
NODE
timeout 240 node run.mjs "$browser"
