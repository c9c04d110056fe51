#!/usr/bin/env bash
# Globs of page.route in Playwright 1.65.1, on the path of a method of Connect or gRPC: /shop.v1.Orders/List.
# Guess: `**` is any text, so `**/Orders/List` meets the service whatever its package is.
# Seen: `**/` ends at a slash, so that route is never called and the request goes out; `**Orders/List` meets it.
# So a route that is to make a method fail changes nothing, without a word, unless the glob has the package or no slash.
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
import { chromium } from 'playwright-core';
const server = createServer((_, response) => response.end('sent'));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: false });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/`);
const seen = {};
for (const glob of ['**/Orders/List', '**Orders/List', '**/*.Orders/List', '**/shop.v1.Orders/List']) {
  await page.unrouteAll();
  await page.route(glob, (route) => route.fulfill({ body: 'routed' }));
  seen[glob] = await page.evaluate(async () => (await fetch('/shop.v1.Orders/List')).text());
}
await browser.close();
server.close();
console.log(seen);
assert.deepStrictEqual(seen, {
  '**/Orders/List': 'sent',
  '**Orders/List': 'routed',
  '**/*.Orders/List': 'routed',
  '**/shop.v1.Orders/List': 'routed',
});
NODE
timeout 60 node run.mjs "$browser"
