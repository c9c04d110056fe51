#!/usr/bin/env bash
# What becomes of a program when @rudderstack/rudder-sdk-node 3.0.13 has spent the tries of a request.
# Guess: the events are dropped and the error is logged; whoever gave track() a callback is told there.
# Seen: the error is thrown again in a flush that nobody waits for, so that Node ends the program with code 1, whether
# track() had a callback or not. Only a function in the option `errorHandler` keeps the program alive.
# The answer is an ordinary 503 of a server that is busy or starts again.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund @rudderstack/rudder-sdk-node@3.0.13 >/dev/null
cat > program.mjs <<'NODE'
import Analytics from '@rudderstack/rudder-sdk-node';
const [dataPlaneUrl, told] = process.argv.slice(2);
const client = new Analytics('key', {
  ...{ dataPlaneUrl, logLevel: 'none', retryCount: 0 },
  ...(told === 'errorHandler' && { errorHandler: () => {} }),
});
client.track({ userId: 'someone', event: 'event' }, told === 'callback' ? () => {} : undefined);
setTimeout(() => process.exit(0), 4_000);
NODE
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(503).end());
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const seen = {};
for (const told of ['nobody', 'callback', 'errorHandler']) {
  const program = spawn(process.execPath, ['program.mjs', url, told], { stdio: 'ignore' });
  const [code] = await once(program, 'exit');
  seen[told] = code;
}
server.closeAllConnections();
server.close();
console.log('@rudderstack/rudder-sdk-node 3.0.13, exit codes by who is told:', seen);
assert.deepStrictEqual(seen, { nobody: 1, callback: 1, errorHandler: 0 });
NODE
timeout 60 node run.mjs
