#!/usr/bin/env bash
# What a page sends while it is left, in a Playwright 1.65.1 context with a userAgent and a locale of its own (the
# machine's Chromium; seen with 150).
# Guess: all requests of the context have its user agent and its language, beacons and fetches with keepalive too.
# Seen: they have, but for those that are sent in pagehide while another page is loaded: these have the browser's own.
# So whoever tests what is told of a visitor's browser sees two browsers: give the agent to the browser (--user-agent).
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'skipped: needs Chromium'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund playwright-core@1.65.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { chromium } from 'playwright-core';
const seen = {};
const server = createServer((request, response) => {
  const { 'user-agent': agent, 'accept-language': language } = request.headers;
  const isOwn = agent === 'given' && language.startsWith('de-CH');
  if (request.method === 'POST') seen[request.url] = isOwn ? "the context's" : "the browser's";
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>page</title>');
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const site = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: false });
const context = await browser.newContext({ userAgent: 'given', locale: 'de-CH' });
const page = await context.newPage();
await page.goto(site);
await page.evaluate(async () => {
  const send = (when) => {
    navigator.sendBeacon(`/beacon-${when}`, 'x');
    return fetch(`/keepalive-${when}`, { method: 'POST', keepalive: true });
  };
  addEventListener('pagehide', () => void send('leaving'));
  await send('staying');
});
await page.goto(`${site}/next`);
for (let turn = 0; turn < 100 && Object.keys(seen).length < 4; turn++) await wait(100);
await browser.close();
server.close();
console.log(seen);
assert.deepStrictEqual(
  { ...seen },
  {
    '/beacon-staying': "the context's",
    '/keepalive-staying': "the context's",
    '/beacon-leaving': "the browser's",
    '/keepalive-leaving': "the browser's",
  },
);
NODE
timeout 60 node run.mjs "$browser"
