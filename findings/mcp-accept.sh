#!/usr/bin/env bash
# How createMcpHandler of @modelcontextprotocol/server 2.4.0 with `responseMode: 'json'` reads Accept, and what it sends, to
# a client of the revision 2025-11-25, which its own client of that version asks for unless told to negotiate.
# Guess: `*/*`, which curl sends, accepts everything, names of media types have no case, q=0 excludes one, and the
# answer is JSON.
# Seen: the header is searched for the two names as text. `*/*` and a name in capitals get 406, a type with q=0 or a longer
# name is taken for one that is accepted; and such clients are answered by an event stream: the mode is for the next
# revision's requests alone.
# So an endpoint for people with curl has to write Accept anew before this package sees it, and to read both forms.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @modelcontextprotocol/server@2.4.0 @modelcontextprotocol/client@2.4.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/client';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
const handler = createMcpHandler(() => new McpServer({ name: 'shop', version: '1' }), { responseMode: 'json' });
const clientInfo = { name: 'agent', version: '1' };
const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
const seen = {};
for (const accept of [
  'application/json, text/event-stream',
  '*/*',
  'application/*, text/*',
  'Application/JSON, Text/Event-Stream',
  'application/json;q=0, text/event-stream',
  'application/jsonlines, text/event-streams',
]) {
  const headers = { accept, 'content-type': 'application/json' };
  const answer = await handler.fetch(new Request('http://shop.example/mcp', { method: 'POST', headers, body }));
  seen[accept] = `${answer.status} ${answer.headers.get('content-type')}`;
  await answer.text();
}
console.log(`revision ${LATEST_PROTOCOL_VERSION}:`, seen);
assert.deepStrictEqual(seen, {
  'application/json, text/event-stream': '200 text/event-stream',
  '*/*': '406 application/json',
  'application/*, text/*': '406 application/json',
  'Application/JSON, Text/Event-Stream': '406 application/json',
  'application/json;q=0, text/event-stream': '200 text/event-stream',
  'application/jsonlines, text/event-streams': '200 text/event-stream',
});
NODE
timeout 30 node run.mjs
