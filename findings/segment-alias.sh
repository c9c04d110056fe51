#!/usr/bin/env bash
# alias() of @segment/analytics-next 1.84.3 for a visitor with a user id, in the machine's Chromium.
# Guess: alias('ann@new', 'ann') joins the two ids: userId is the new one, previousId the old one, as the reference says.
# Seen: it does so for a visitor who was not identified. Once identify('ann') was called, userId is `ann` too: the new id
# is in no field of the message, with or without the second argument, and a server is told to join ann with ann.
# So an import of such messages learns nothing of the new id; a server alias is sent by another SDK.
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'skipped: needs Chromium'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
timeout 300 npm install --silent --no-audit --no-fund esbuild@0.28.2 playwright-core@1.65.1 @segment/analytics-next@1.84.3 \
  @segment/analytics-node@3.1.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Analytics } from '@segment/analytics-node';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
const contents = `import { AnalyticsBrowser } from '@segment/analytics-next';
  const settings = { apiKey: 'key', apiHost: location.host + '/v1', protocol: 'http' };
  const client = AnalyticsBrowser.load({ writeKey: 'key', cdnSettings: { integrations: { 'Segment.io': settings } } });
  window.run = async () => {
    await client;
    await client.alias('ann@new', 'ann');
    await client.identify('ann');
    await client.alias('ann@new', 'ann');
    await client.alias('ann@new');
  };`;
const stdin = { contents, resolveDir: process.cwd() };
const define = { 'process.env.NODE_ENV': '"production"' };
const built = await build({ stdin, bundle: true, format: 'iife', write: false, logLevel: 'error', define });
const sent = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  if (request.url === '/tracker.js')
    return response.writeHead(200, { 'content-type': 'text/javascript' }).end(built.outputFiles[0].text);
  if (request.url.startsWith('/v1/')) sent.push(...(JSON.parse(text).batch ?? [JSON.parse(text)]));
  response.writeHead(200, { 'content-type': request.method === 'POST' ? 'application/json' : 'text/html' });
  response.end(request.method === 'POST' ? '{}' : '<!doctype html><title>shop</title><script src="/tracker.js"></script>');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: false });
try {
  const page = await browser.newPage();
  await page.goto(site);
  await page.evaluate('run()');
  for (let tries = 0; sent.length < 4 && tries < 200; tries++) await page.waitForTimeout(50);
} finally {
  await browser.close();
}
const inNode = new Analytics({ writeKey: 'key', host: site });
inNode.alias({ userId: 'ann@new', previousId: 'ann' });
await inNode.closeAndFlush({ timeout: 10_000 });
server.closeAllConnections();
server.close();
const aliases = sent.filter(({ type }) => type === 'alias');
const seen = aliases.map(({ userId, previousId }) => `${previousId} becomes ${userId}`);
console.log('@segment/analytics-next 1.84.3, unknown visitor, known one twice; and @segment/analytics-node 3.1.0:', seen);
assert.deepStrictEqual(
  seen,
  ['ann becomes ann@new', 'ann becomes ann', 'ann becomes ann', 'ann becomes ann@new'],
);
assert.strictEqual(aliases.filter((alias) => JSON.stringify(alias).includes('ann@new')).length, 2);
NODE
timeout 120 node run.mjs "$browser"
