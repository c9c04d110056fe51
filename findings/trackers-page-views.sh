#!/usr/bin/env bash
# One walk of a reader through a single-page site, as six trackers in seven settings count it, each told to track page views
# by itself, in the machine's Chromium: posthog-js 1.449.2, mixpanel-browser 2.83.0, @amplitude/analytics-browser 2.48.1,
# @openpanel/web 1.4.1, @plausible-analytics/tracker 0.4.6, @rybbit/js 0.6.2.
# Guess: a new path is a page view, however it came; the same address again, another query and a hash are none.
# Seen: the walk is 3 to 8 page views. replaceState to another path is none for two of them, one of which counts that path when
# the hash changes next; a hash is one for four, another query for four; one counts the same address again,
# which frameworks write to keep a scroll position.
# So page views of two trackers on one site are not compared, and whoever moves from one to another is told which steps
# the new one counts.
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
const mixpanel = (urls) => `import mixpanel from 'mixpanel-browser';
  mixpanel.init('key', { api_host: location.origin, track_pageview: '${urls}', batch_requests: false });`;
const trackers = {
  posthog: `import posthog from 'posthog-js';
    posthog.init('phc_key', { api_host: location.origin, capture_pageview: 'history_change', autocapture: false,
      capture_pageleave: false, disable_session_recording: true, disable_surveys: true, advanced_disable_flags: true,
      request_batching: false, opt_out_useragent_filter: true });`,
  'mixpanel, full-url': mixpanel('full-url'),
  'mixpanel, url-with-path': mixpanel('url-with-path'),
  amplitude: `import { init } from '@amplitude/analytics-browser';
    init('key', undefined, { serverUrl: location.origin + '/amplitude', flushIntervalMillis: 50,
      remoteConfig: { fetchRemoteConfig: false }, autocapture: { pageViews: true, sessions: false, attribution: false,
        formInteractions: false, fileDownloads: false, elementInteractions: false } });`,
  openpanel: `import { OpenPanel } from '@openpanel/web';
    new OpenPanel({ apiUrl: location.origin, clientId: 'id', trackScreenViews: true });`,
  plausible: `import { init } from '@plausible-analytics/tracker';
    init({ domain: 'shop.example', endpoint: location.origin + '/api/event', captureOnLocalhost: true });`,
  rybbit: `import rybbit from '@rybbit/js';
    rybbit.init({ analyticsHost: location.origin + '/api', siteId: '1' });`,
};
const walk = {
  'load /one': undefined,
  'push /two': "history.pushState({}, '', '/two')",
  'push the same': "history.pushState({}, '', location.href)",
  'replace by the same': "history.replaceState({ top: 1 }, '', location.href)",
  'push another query': "history.pushState({}, '', '/two?sort=price')",
  'replace by /three': "history.replaceState({}, '', '/three')",
  'another hash': "location.hash = 'size'",
  'back from the hash': 'history.back()',
};
let script = '';
let views = 0;
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  if (request.url === '/tracker.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  if (request.headers.accept?.includes('text/html')) {
    response.writeHead(200, { 'content-type': 'text/html' });
    return response.end('<!doctype html><title>shop</title><script src="/tracker.js"></script>');
  }
  const body = Buffer.concat(parts);
  const text = (body[0] === 0x1f ? gunzipSync(body) : body).toString();
  const sent = text.startsWith('data=') ? decodeURIComponent(text) : text;
  const plain = sent + Buffer.from(sent.replace(/^data=/, ''), 'base64').toString();
  if (/page_?view|Page Viewed|screen_view/i.test(plain)) views++;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(request.url === '/amplitude' ? '{"code":200}' : '{"status":1,"deviceId":"a","sessionId":"b"}');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}`;
const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';
const browser = await chromium.launch({
  executablePath: process.argv[2],
  chromiumSandbox: false,
  args: [`--user-agent=${agent}`],
});
const seen = {};
for (const [name, contents] of Object.entries(trackers)) {
  const stdin = { contents, resolveDir: process.cwd() };
  const define = { 'process.env.NODE_ENV': '"production"' };
  const built = await build({ stdin, bundle: true, format: 'iife', write: false, logLevel: 'error', define });
  script = built.outputFiles[0].text;
  const context = await browser.newContext();
  // Some of them take a driven browser for a bot.
  await context.addInitScript("Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => undefined })");
  const page = await context.newPage();
  const counted = [];
  for (const [step, code] of Object.entries(walk)) {
    views = 0;
    if (code === undefined) await page.goto(`${site}/one`);
    else await page.evaluate(code);
    await wait(2_500);
    if (views > 0) counted.push(views === 1 ? step : `${step} (${views})`);
  }
  seen[name] = counted;
  await context.close();
}
console.log(seen);
await browser.close();
server.closeAllConnections();
server.close();
const all = Object.keys(walk);
assert.deepStrictEqual(seen, {
  posthog: ['load /one', 'push /two', 'replace by /three'],
  'mixpanel, full-url': all.filter((step) => !step.includes('same')),
  'mixpanel, url-with-path': ['load /one', 'push /two', 'replace by /three'],
  amplitude: all.filter((step) => !step.includes('replace') && !step.includes('same')),
  openpanel: all.filter((step) => !step.includes('same')),
  plausible: ['load /one', 'push /two', 'another hash'],
  rybbit: all,
});
NODE
timeout 240 node run.mjs "$browser"
