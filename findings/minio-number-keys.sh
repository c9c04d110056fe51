#!/usr/bin/env bash
# Names of objects that the lists of minio 8.0.7 give, with a server that answers as S3 does (a stub here, which encodes
# keys as the client asks).
# Guess: a key is text: the list gives it as it was written, as its type (string) says.
# Seen: a key that looks like a number is read as one and made a text again: 007 is "7", 1.10 is "1.1" and 0x1f is "31";
# a key of 20 digits, and one with a slash or an ending, stay. That is listObjectsV2; listObjects gives all as they are.
# So whoever moves to V2 lists one object and reads or removes another: a folder or an ending keeps keys text.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund minio@8.0.7 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client } from 'minio';
const keys = ['007', '0x1f', '1.10', '12345678901234567890', '007.json', 'day/007'];
const requests = [];
const server = createServer((request, response) => {
  requests.push(`${request.method} ${request.url.split('?')[0]}`);
  const contents = keys.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key><Size>5</Size><ETag>&quot;e&quot;</ETag>
    <LastModified>2026-07-01T00:00:00.000Z</LastModified></Contents>`);
  response.end(`<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <Name>events</Name><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`);
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const keysOfClient = { accessKey: 'key', secretKey: 'secret', region: 'us-east-1' };
const client = new Client({ endPoint: '127.0.0.1', port, useSSL: false, ...keysOfClient });
const seen = {};
for (const method of ['listObjects', 'listObjectsV2']) {
  seen[method] = [];
  for await (const { name } of client[method]('events', '', true)) seen[method].push(name);
}
requests.length = 0;
await client.removeObject('events', seen.listObjectsV2[0]);
server.close();
server.closeAllConnections();
console.log('stored:', keys, 'listed by minio 8.0.7:', seen, 'the first one of the list is removed by:', requests);
const ofV2 = ['7', '31', '1.1', '12345678901234567890', '007.json', 'day/007'];
assert.deepStrictEqual(seen, { listObjects: keys, listObjectsV2: ofV2 });
assert.deepStrictEqual(requests, ['DELETE /events/7']);
NODE
timeout 60 node run.mjs
