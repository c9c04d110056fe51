#!/usr/bin/env bash
# Whose event groupIdentify of posthog-node 5.70.0 is.
# Guess: it is of no person, or of whoever was named last: a group is no user.
# Seen: an event $groupidentify with the distinct_id `$company_acme`, made of the group's type and key. A server that takes
# each distinct_id for a user has a user for each group.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund posthog-node@5.70.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { PostHog } from 'posthog-node';
const events = [];
const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const text = (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString();
  events.push(...(JSON.parse(text).batch ?? []));
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":1}');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `http://127.0.0.1:${server.address().port}`;
const client = new PostHog('key', { host, flushAt: 1 });
client.groupIdentify({ groupType: 'company', groupKey: 'acme', properties: { plan: 'pro' } });
for (let tries = 0; events.length === 0 && tries < 200; tries++)
  await new Promise((resolve) => setTimeout(resolve, 50));
server.closeAllConnections();
server.close();
const [{ event, distinct_id }] = events;
console.log('posthog-node 5.70.0:', { event, distinct_id });
assert.deepStrictEqual({ event, distinct_id }, { event: '$groupidentify', distinct_id: '$company_acme' });
process.exit(0);
NODE
timeout 60 node run.mjs
