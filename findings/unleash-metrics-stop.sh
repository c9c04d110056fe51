#!/usr/bin/env bash
# Usage metrics of unleash-client 6.12.1 after one answer that is no success.
# Guess: whatever the server answers, the client sends again at its next interval; only 401 and 403 end its sending.
# Seen: after 429 and 503 it does; after one 400, 408, 413 or 501 it never sends again, gives no warning, and counts on.
# So a server of metrics, or a proxy before it, answers 503 where it wants to hear of a client again: one 413 for one
# large report silences an application until it is started anew.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund unleash-client@6.12.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { Unleash } from 'unleash-client';
const reportsAfter = async (firstStatus) => {
  let reports = 0;
  const warnings = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isReport = request.url.endsWith('/client/metrics');
      if (isReport) reports++;
      const isFlags = request.url.includes('/client/features');
      response.writeHead(isReport && reports === 1 ? firstStatus : 200, { 'content-type': 'application/json' });
      response.end(isFlags ? '{"version":2,"features":[]}' : '{}');
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/api/`;
  const unleash = new Unleash({
    appName: 'shop',
    url,
    backupPath: process.cwd(),
    metricsInterval: 50,
    refreshInterval: 60_000,
  });
  unleash.on('warn', (warning) => warnings.push(warning));
  unleash.on('error', () => {});
  await new Promise((resolve) => unleash.once('synchronized', resolve));
  for (let turn = 0; turn < 30; turn++) {
    unleash.isEnabled('flag');
    await wait(50);
  }
  unleash.destroy();
  server.closeAllConnections();
  server.close();
  return `reports: ${reports > 3 ? 'many' : reports}, warnings: ${warnings.length}`;
};
const seen = {};
for (const status of [200, 429, 503, 400, 408, 413, 501]) seen[status] = await reportsAfter(status);
console.log('unleash-client 6.12.1, by the status of the first answer:', seen);
assert.deepStrictEqual(seen, {
  200: 'reports: many, warnings: 0',
  400: 'reports: 1, warnings: 0',
  408: 'reports: 1, warnings: 0',
  413: 'reports: 1, warnings: 0',
  429: 'reports: many, warnings: 1',
  501: 'reports: 1, warnings: 0',
  503: 'reports: many, warnings: 1',
});
NODE
timeout 60 node run.mjs
