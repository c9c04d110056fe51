#!/usr/bin/env bash
# The same event twice with @grafana/faro-web-sdk 2.12.1, in the machine's Chromium.
# Guess: an event is an event: `dedupe` is for errors and logs, which a loop may repeat, or for what comes within some
# milliseconds.
# Seen: pushEvent() drops what equals the event before it, in name and attributes, a second later too; so does
# pushMeasurement(), at once. A third event between the two lets the second through. `dedupe: false`, or { skipDedupe:
# true } for one call, sends all.
# So whoever puts the same article into the cart twice has put it there once, and a page that is measured at 5 ms twice
# was measured once: counts and medians by Faro are of changes, not of events.
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'skipped: needs Chromium'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @grafana/faro-web-sdk@2.12.1 @grafana/faro-core@2.12.1 \
  esbuild@0.28.2 playwright-core@1.65.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
const contents = `import { initializeFaro } from '@grafana/faro-web-sdk';
  const batching = { sendTimeout: 50 };
  const settings = { url: location.origin + '/collect', app: { name: 'shop' }, instrumentations: [], batching };
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1_000));
  window.run = async (more) => {
    const { api } = initializeFaro({ ...settings, ...more, isolate: true, preventGlobalExposure: true });
    const put = (article, options) => api.pushEvent('put into cart', { article }, undefined, options);
    put('shoes');
    put('shoes');
    await pause();
    put('shoes');
    put('hat');
    put('shoes');
    for (let times = 0; times < 3; times++) api.pushMeasurement({ type: 'load', values: { ms: 5 } });
    put('last', { skipDedupe: true });
    put('last', { skipDedupe: true });
  };`;
const stdin = { contents, resolveDir: process.cwd() };
const built = await build({ stdin, bundle: true, format: 'iife', write: false, logLevel: 'error' });
let sent = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  if (request.url === '/faro.js')
    return response.writeHead(200, { 'content-type': 'text/javascript' }).end(built.outputFiles[0].text);
  if (request.url === '/collect') sent.push(JSON.parse(text));
  response.writeHead(request.method === 'POST' ? 202 : 200, { 'content-type': 'text/html' });
  response.end('<!doctype html><title>shop</title><script src="/faro.js"></script>');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: false });
const seen = {};
try {
  for (const [settings, more] of Object.entries({ 'by default': {}, 'dedupe: false': { dedupe: false } })) {
    sent = [];
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}`);
    await page.evaluate((given) => window.run(given), more);
    const events = () => sent.flatMap((body) => body.events ?? []).filter(({ name }) => name === 'put into cart');
    const isDone = () => events().filter(({ attributes }) => attributes.article === 'last').length === 2;
    for (let tries = 0; !isDone() && tries < 200; tries++) await page.waitForTimeout(50);
    const articles = events().map(({ attributes }) => attributes.article);
    seen[settings] = `${articles.join(', ')}; measurements: ${sent.flatMap((body) => body.measurements ?? []).length}`;
    await page.close();
  }
} finally {
  await browser.close();
}
server.closeAllConnections();
server.close();
console.log('@grafana/faro-web-sdk 2.12.1:', seen);
assert.deepStrictEqual(seen, {
  'by default': 'shoes, hat, shoes, last, last; measurements: 1',
  'dedupe: false': 'shoes, shoes, shoes, hat, shoes, last, last; measurements: 3',
});
NODE
timeout 100 node run.mjs "$browser"
