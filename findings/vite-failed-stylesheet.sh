#!/usr/bin/env bash
# Vite 8.3.8's preloading of a lazy part's stylesheet that could not be fetched, in the machine's Chromium (Playwright
# 1.65.1).
# Guess: import() fails where the part's stylesheet does, and another import() of it asks for the stylesheet again.
# Seen: the first fails with "Unable to preload CSS"; the second resolves without a request: the part runs unstyled.
# So whoever tries a failed import() again after an outage has to take the failed link element's stylesheet along, or to
# load the page anew.
set -euo pipefail
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || { echo 'skipped: needs Chromium'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund vite@8.3.8 playwright-core@1.65.1 >/dev/null
mkdir src
cat > index.html <<'HTML'
<!doctype html><title>A page with a lazy part</title><p id="lazy">text</p><script type="module" src="/src/main.js"></script>
HTML
cat > src/main.js <<'JS'
window.load = () =>
  import('./lazy.js').then(({ answer }) => answer, (error) => error.message.replace(/http.*/, 'URL'));
JS
echo "import './lazy.css'; export const answer = 'loaded';" > src/lazy.js
echo '#lazy { color: rgb(1, 2, 3); }' > src/lazy.css
timeout 60 node_modules/.bin/vite build --logLevel error
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { chromium } from 'playwright-core';
const types = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
let requests = 0;
const server = createServer(({ url }, response) => {
  const path = url === '/' ? '/index.html' : url;
  const type = types[path.split('.').pop()];
  if (type === 'text/css' && ++requests === 1) response.writeHead(503).end();
  else if (type === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': type }).end(readFileSync(`dist${path}`));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({ executablePath: process.argv[2], chromiumSandbox: false });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/`);
const first = await page.evaluate(() => window.load());
const second = await page.evaluate(() => window.load());
const color = await page.evaluate(() => getComputedStyle(document.querySelector('#lazy')).color);
await browser.close();
server.close();
const seen = { first, second, color, requests };
console.log(seen);
assert.deepStrictEqual(seen, {
  first: 'Unable to preload CSS for URL',
  second: 'loaded',
  color: 'rgb(0, 0, 0)',
  requests: 1,
});
NODE
timeout 60 node run.mjs "$browser"
