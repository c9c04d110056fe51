#!/usr/bin/env bash
# Codes that a client of @connectrpc/connect-node 2.2.0 (Connect, HTTP/1.1) gives for answers that were lost on the way.
# Guess: whatever is lost on the way is `unavailable`, the code to try again; `invalid_argument` is the server's word
# about the request.
# Seen: only a refused connection is `unavailable`. A connection that is reset, or cut within the answer, is `aborted`;
# a stream that ends before its last message is `invalid_argument`, and so is an empty answer.
# So a retry on `unavailable` alone misses the usual end of a server that starts anew, and statistics of
# `invalid_argument` count broken connections.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @connectrpc/connect@2.2.0 @connectrpc/connect-node@2.2.0 \
  @bufbuild/protobuf@2.17.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createFileRegistry, fromJson } from '@bufbuild/protobuf';
import { file_google_protobuf_struct, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
const types = { inputType: '.google.protobuf.Struct', outputType: '.google.protobuf.Struct' };
const file = fromJson(FileDescriptorProtoSchema, {
  name: 'shop.proto',
  package: 'shop',
  syntax: 'proto3',
  dependency: ['google/protobuf/struct.proto'],
  service: [{ name: 'Orders', method: [{ name: 'Get', ...types }, { name: 'List', serverStreaming: true, ...types }] }],
});
const service = createFileRegistry(file, () => file_google_protobuf_struct.proto).getService('shop.Orders');
let answer;
const server = createServer((request, response) => request.resume().on('end', () => answer(response)));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const clientTo = (to) => {
  const options = { baseUrl: `http://127.0.0.1:${to}`, httpVersion: '1.1', useBinaryFormat: false };
  return createClient(service, createConnectTransport(options));
};
const seen = {};
const told = async (name, call) => {
  try {
    await call();
    seen[name] = 'ok';
  } catch (error) {
    seen[name] = Code[error.code];
  }
};
const json = { 'content-type': 'application/json' };
const oneMessage = Buffer.concat([Buffer.from([0, 0, 0, 0, 2]), Buffer.from('{}')]);
const answers = {
  reset: (response) => response.socket.destroy(),
  'cut within the answer': (response) => {
    response.writeHead(200, { ...json, 'content-length': 10 }).write('{"a"');
    setTimeout(() => response.destroy(), 50);
  },
  empty: (response) => response.writeHead(200, json).end(),
};
for (const [name, given] of Object.entries(answers)) {
  answer = given;
  await told(name, () => clientTo(port).get({}));
}
answer = (response) => response.writeHead(200, { 'content-type': 'application/connect+json' }).end(oneMessage);
await told('stream without its end', async () => {
  for await (const message of clientTo(port).list({})) assert(message);
});
const closed = createServer().listen(0, '127.0.0.1');
await once(closed, 'listening');
const { port: unused } = closed.address();
closed.close();
await once(closed, 'close');
await told('refused', () => clientTo(unused).get({}));
server.closeAllConnections();
server.close();
console.log('@connectrpc/connect-node 2.2.0:', seen);
assert.deepStrictEqual(seen, {
  reset: 'Aborted',
  'cut within the answer': 'Aborted',
  empty: 'InvalidArgument',
  'stream without its end': 'InvalidArgument',
  refused: 'Unavailable',
});
NODE
timeout 60 node run.mjs
