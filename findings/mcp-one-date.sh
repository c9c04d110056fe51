#!/usr/bin/env bash
# Tools of a server of @modelcontextprotocol/sdk 1.32.2 (zod 4.6.7), one of which takes a date: z.coerce.date().
# Guess: a type that the SDK cannot tell to clients is refused by registerTool(), or is listed as a text; the other
# tools are listed in any case.
# Seen: registerTool() takes it, and a call with a text works and gives the tool a Date. The list of tools is an error,
# "Date cannot be represented in JSON Schema", for all tools: a client that asks for the list first has none.
# So a test that calls the tool by its name is green while every client that lists finds an empty server: take texts
# (z.iso.date(), with which both tools are listed), and list the tools in a test.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 zod@4.6.7 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
const seen = {};
for (const [kind, day] of Object.entries({ text: z.iso.date(), date: z.coerce.date() })) {
  const server = new McpServer({ name: 'reports', version: '1.0.0' });
  const answer = (given) => ({ content: [{ type: 'text', text: given.day?.constructor.name ?? 'nothing' }] });
  server.registerTool('visits', { inputSchema: { day } }, async (given) => answer(given));
  server.registerTool('pages', { inputSchema: { limit: z.number() } }, async (given) => answer(given));
  const client = new Client({ name: 'client', version: '1.0.0' });
  const [ofServer, ofClient] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ofServer), client.connect(ofClient)]);
  const called = await client.callTool({ name: 'visits', arguments: { day: '2026-01-01' } });
  seen[`${kind}, called`] = called.content[0].text;
  try {
    const { tools } = await client.listTools();
    seen[`${kind}, listed`] = tools.map(({ name }) => name).join(', ');
  } catch (error) {
    seen[`${kind}, listed`] = error.message;
  }
  await client.close();
}
console.log('@modelcontextprotocol/sdk 1.32.2:', seen);
assert.deepStrictEqual(seen, {
  'text, called': 'String',
  'text, listed': 'visits, pages',
  'date, called': 'Date',
  'date, listed': 'MCP error -32603: Date cannot be represented in JSON Schema',
});
NODE
timeout 60 node run.mjs
