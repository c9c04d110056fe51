#!/usr/bin/env bash
# Deadlines that a caller gives as `timeoutMs` to Connect's clients 2.3.0, whose server is Connect's own for Node.
# Guess: `timeoutMs` is a number of milliseconds: what is left of a budget by performance.now() is sent rounded,
# Infinity and thirty days are long enough never to be noticed.
# Seen: a fraction is sent as it is, in a header that has whole numbers alone, and the server refuses the call with
# invalid_argument, in all three protocols. In gRPC's two, 100,000,000 (28 hours) is refused too: the header has eight
# digits and a unit, which is always the millisecond. Infinity and thirty days expire after a millisecond, with
# deadline_exceeded.
# So a caller that measures what is left rounds it up and caps it at a day; zero is without an end.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund \
  @connectrpc/connect@2.3.0 @connectrpc/connect-node@2.3.0 @bufbuild/protobuf@2.17.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import http from 'node:http';
import http2 from 'node:http2';
import { create, createFileRegistry } from '@bufbuild/protobuf';
import * as wkt from '@bufbuild/protobuf/wkt';
import { Code, createClient } from '@connectrpc/connect';
import * as connect from '@connectrpc/connect-node';
const type = '.google.protobuf.StringValue';
const file = create(wkt.FileDescriptorProtoSchema, {
  name: 'echo.proto',
  syntax: 'proto3',
  dependency: ['google/protobuf/wrappers.proto'],
  service: [{ name: 'Echo', method: [{ name: 'Get', inputType: type, outputType: type }] }],
});
const files = create(wkt.FileDescriptorSetSchema, { file: [wkt.file_google_protobuf_wrappers.proto, file] });
const echo = createFileRegistry(files).getService('Echo');
const handler = connect.connectNodeAdapter({ routes: (router) => router.service(echo, { get: (request) => request }) });
const listening = (server) =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`));
  });
const baseUrl = await listening(http.createServer(handler));
const transports = {
  connect: connect.createConnectTransport({ baseUrl, httpVersion: '1.1' }),
  'gRPC-Web': connect.createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
  gRPC: connect.createGrpcTransport({ baseUrl: await listening(http2.createServer(handler)) }),
};
const seen = {};
for (const [name, transport] of Object.entries(transports)) {
  const client = createClient(echo, transport);
  seen[name] = {};
  for (const timeoutMs of [0, 30_000, 30_000.5, 99_999_999, 100_000_000, 2_592_000_000, Number.POSITIVE_INFINITY])
    seen[name][timeoutMs] = await client.get({ value: 'hello' }, { timeoutMs }).then(
      ({ value }) => value,
      ({ code }) => Code[code],
    );
}
console.log('Connect 2.3.0, by protocol and timeoutMs:', seen);
for (const name of Object.keys(transports))
  assert.deepStrictEqual(seen[name], {
    0: 'hello',
    30000: 'hello',
    30000.5: 'InvalidArgument',
    99999999: 'hello',
    100000000: name === 'connect' ? 'hello' : 'InvalidArgument',
    2592000000: 'DeadlineExceeded',
    Infinity: 'DeadlineExceeded',
  });
process.exit(0);
NODE
NODE_NO_WARNINGS=1 timeout 60 node run.mjs
