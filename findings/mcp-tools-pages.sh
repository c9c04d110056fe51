#!/usr/bin/env bash
# The client of @modelcontextprotocol/sdk 1.32.2 with a server that lists its tools in two pages.
# Guess: callTool() checks what a tool answers against the output schema that the server has listed for it.
# Seen: each page makes the client forget the page before: answers of tools of the last listed page alone are checked. A
# tool of the first page may answer anything, and before a list is asked for, every tool may.
# So whoever lists all pages and calls then checks structuredContent itself.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
const info = { name: 'shop', version: '1' };
const server = new Server(info, { capabilities: { tools: {} } });
const toolOf = (name) => ({
  name,
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
});
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  return params?.cursor === 'rest' ? { tools: [toolOf('visits')] } : { tools: [toolOf('sales')], nextCursor: 'rest' };
});
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [], structuredContent: { count: 'many' } }));
const client = new Client(info);
const [ofClient, ofServer] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(ofServer), client.connect(ofClient)]);
const check = async () => {
  const outcomes = {};
  for (const name of ['sales', 'visits']) {
    outcomes[name] = await client.callTool({ name }).then(() => 'taken', () => 'refused');
  }
  return outcomes;
};
const seen = { 'before a list': await check() };
const { nextCursor } = await client.listTools();
seen['after the page with sales'] = await check();
await client.listTools({ cursor: nextCursor });
seen['after the page with visits'] = await check();
await client.close();
console.log('@modelcontextprotocol/sdk 1.32.2, a count that is no integer:', seen);
assert.deepStrictEqual(seen, {
  'before a list': { sales: 'taken', visits: 'taken' },
  'after the page with sales': { sales: 'refused', visits: 'taken' },
  'after the page with visits': { sales: 'taken', visits: 'refused' },
});
NODE
timeout 30 node run.mjs
