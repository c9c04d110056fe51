#!/usr/bin/env bash
# @clickhouse/client 1.23.1 with an answer whose query fails after its first rows, in the form of servers since 25.11:
# status 200, the rows, and then a block that the header x-clickhouse-exception-tag announces.
# Guess: whatever reads the result is rejected with the server's error, since the client knows the tag when it has the
# headers.
# Seen: json() and stream() are. text() resolves: the text is the first two rows and six lines of the block with the
# error, as if these were rows. exec()'s stream gives the same.
# So an export that is fetched by text() as CSV, or a table of a few rows, ends with lines of an error that nobody
# notices: read by stream(), or look for the tag in the text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @clickhouse/client@1.23.1 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createClient } from '@clickhouse/client';
const error = 'Code: 395. DB::Exception: Value is too large. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO) (version 26.7.2.1)';
const tag = 'abcdefghijklmnop';
const server = createServer((request, response) => {
  request.resume();
  const format = request.headers['x-format'];
  response.writeHead(200, { 'x-clickhouse-exception-tag': tag });
  response.write(format === 'JSONEachRow' ? '{"n":1}\n{"n":2}\n' : '1\n2\n');
  const block = `\r\n__exception__\r\n${tag}\r\n${error}\n${error.length + 1} ${tag}\r\n__exception__\r\n`;
  setTimeout(() => response.end(block), 50);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;
const told = async (format, read) => {
  const client = createClient({ url, http_headers: { 'x-format': format }, log: { level: 5 } });
  try {
    const text = await read(client, { query: 'SELECT n FROM numbers', format });
    return `${text.split('\n').length - 1} lines${text.includes(error) ? ', the error among them' : ''}`;
  } catch (rejection) {
    return `rejected: ${rejection.message.trim()}`;
  } finally {
    await client.close();
  }
};
const readStream = async (stream) => {
  let text = '';
  for await (const rows of stream) text += rows.map((row) => `${row.text}\n`).join('');
  return text;
};
const seen = {
  'json()': await told('JSONEachRow', async (client, query) => (await client.query(query)).json()),
  'stream() of CSV': await told('CSV', async (client, query) => readStream((await client.query(query)).stream())),
  'text() of CSV': await told('CSV', async (client, query) => (await client.query(query)).text()),
  'exec()': await told('CSV', async (client, query) => {
    const { stream } = await client.exec(query);
    return (await stream.toArray()).join('');
  }),
};
server.closeAllConnections();
server.close();
console.log('@clickhouse/client 1.23.1:', seen);
assert.deepStrictEqual(seen, {
  'json()': 'rejected: Value is too large.',
  'stream() of CSV': 'rejected: Value is too large.',
  'text() of CSV': '8 lines, the error among them',
  'exec()': '8 lines, the error among them',
});
NODE
timeout 60 node run.mjs
