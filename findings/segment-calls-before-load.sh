#!/usr/bin/env bash
# Calls of @segment/analytics-next 1.84.3 that come before its library is ready, in the machine's Chromium.
# Guess: they wait in the order of the calls, and are sent as if each had been made when the library was there.
# Seen: they are replayed method by method, methods in the order of their first calls: of track, identify, track both
# events come before identify; of page, track, page both pages come before the event. Their times are those of the replay.
# An event that was tracked after reset() is replayed before it, and has the user who was logged out.
# So the first moments of a visit are in another order than they happened, and a funnel by time misses people: whoever
# needs the order awaits the client first.
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'skipped: needs Chromium'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "type": "module" }' >package.json
timeout 300 npm install --silent --no-audit --no-fund esbuild@0.28.2 playwright-core@1.65.1 @segment/analytics-next@1.84.3 \
  >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
const walks = {
  identify: "client.track('opened'); client.identify('ann'); client.track('bought');",
  page: "client.page('cart'); client.track('bought'); client.page('thanks');",
  reset: "client.identify('ann'); client.track('bought'); client.reset(); client.track('read');",
};
let script = '';
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  if (request.url === '/tracker.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
  response.writeHead(200, { 'content-type': request.method === 'POST' ? 'application/json' : 'text/html' });
  response.end(request.method === 'POST' ? '{}' : '<!doctype html><title>shop</title><script src="/tracker.js"></script>');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: false });
const seen = {};
try {
  for (const [name, walk] of Object.entries(walks)) {
    for (const ready of [false, true]) {
      const contents = `import { AnalyticsBrowser } from '@segment/analytics-next';
        const settings = { apiKey: 'key', apiHost: location.host + '/v1', protocol: 'http' };
        const cdnSettings = { integrations: { 'Segment.io': settings } };
        const client = AnalyticsBrowser.load({ writeKey: 'key', cdnSettings });
        window.run = async () => { ${walk.replaceAll('client.', ready ? 'await client.' : 'client.')} };
        ${ready ? 'client.then(() => window.run())' : 'window.run()'};`;
      const stdin = { contents, resolveDir: process.cwd() };
      const define = { 'process.env.NODE_ENV': '"production"' };
      const built = await build({ stdin, bundle: true, format: 'iife', write: false, logLevel: 'error', define });
      script = built.outputFiles[0].text;
      const expected = walk.split('client.').length - 1 - (walk.includes('reset') ? 1 : 0);
      const context = await browser.newContext();
      // The page itself notes what it sends: requests may overtake each other on their way.
      await context.addInitScript(() => {
        const { fetch } = window;
        window.sent = [];
        window.fetch = (url, init) => {
          if (String(url).includes('/v1/')) window.sent.push(JSON.parse(init.body));
          return fetch(url, init);
        };
      });
      const page = await context.newPage();
      await page.goto(site);
      await page.waitForFunction((count) => window.sent.length >= count, expected);
      const sent = await page.evaluate('sent');
      await context.close();
      const ordered = sent.toSorted((one, other) => Date.parse(one.timestamp) - Date.parse(other.timestamp));
      seen[`${name}, ${ready ? 'awaited' : 'at once'}`] = ordered.map(
        (event) => (event.event ?? event.properties?.name ?? event.type) + (name === 'reset' ? ` of ${event.userId}` : ''),
      );
    }
  }
} finally {
  await browser.close();
  server.closeAllConnections();
  server.close();
}
console.log('@segment/analytics-next 1.84.3, events by their times:', seen);
assert.deepStrictEqual(seen, {
  'identify, at once': ['opened', 'bought', 'identify'],
  'identify, awaited': ['opened', 'identify', 'bought'],
  'page, at once': ['cart', 'thanks', 'bought'],
  'page, awaited': ['cart', 'bought', 'thanks'],
  'reset, at once': ['identify of ann', 'bought of ann', 'read of ann'],
  'reset, awaited': ['identify of ann', 'bought of ann', 'read of null'],
});
NODE
timeout 120 node run.mjs "$browser"
