#!/usr/bin/env bash
# The client nats 2.29.3 between two servers (nats-server 2.9.10, not a cluster: the fault is the client's), one of which
# hangs (SIGSTOP) while the client tries to connect to it, and goes on later.
# Guess: an attempt that has timed out is over.
# Seen: its socket stays open. When the server goes on, it greets that socket, hears no login, and closes it after two
# seconds; the client takes this for the loss of the connection that it has by then with the other server, and makes
# another one without closing that. Both connections are subscribed and are read by one parser: where their bytes mix, a
# message holds bytes of another one, or the parser fails and nothing is read any more.
# So a transport of one's own has to close the sockets of failed attempts, and to forget what becomes of them.
set -euo pipefail
[ "$(uname -s)" = Linux ] || { echo 'skipped: tried on Linux only'; exit 0; }
command -v nats-server >/dev/null || { echo 'skipped: needs nats-server'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 180 npm install --silent --no-audit --no-fund nats@2.29.3 >/dev/null
cat > run.cjs <<'NODE'
const assert = require('node:assert');
const { spawn } = require('node:child_process');
const { createServer } = require('node:net');
const { once } = require('node:events');
const { setTimeout: delay } = require('node:timers/promises');
const { connect } = require('nats');
const freePort = async () => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
};
const start = async (port) => {
  const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '--user', 'u', '--pass', 'p']);
  for await (const line of server.stderr) if (String(line).includes('Server is ready')) break;
  return server;
};
const until = async (holds) => {
  for (let tries = 0; tries < 400 && !holds(); tries++) await delay(50);
};
(async () => {
  const ports = [await freePort(), await freePort()];
  const servers = await Promise.all(ports.map(start));
  process.on('exit', () => servers.forEach((server) => server.kill('SIGKILL')));
  const client = await connect({
    servers: ports.map((port) => `127.0.0.1:${port}`),
    ...{ user: 'u', pass: 'p', timeout: 1_000, reconnectTimeWait: 100, maxReconnectAttempts: -1 },
  });
  const told = [];
  (async () => {
    for await (const { type, data } of client.status()) told.push(`${type} ${data}`);
  })();
  const here = ports.findIndex((port) => client.getServer().endsWith(`:${port}`));
  const hangs = 1 - here;
  const name = (index) => `127.0.0.1:${ports[index]}`;
  servers[hangs].kill('SIGSTOP');
  servers[here].kill('SIGKILL');
  const tried = () => told.indexOf(`reconnecting ${name(hangs)}`);
  await until(() => tried() >= 0 && told.indexOf(`reconnecting ${name(here)}`, tried()) >= 0);
  servers[here] = await start(ports[here]);
  await until(() => told.includes(`reconnect ${name(here)}`));
  const before = told.length;
  servers[hangs].kill('SIGCONT');
  await until(() => told.slice(before).some((event) => event.startsWith('reconnect 127')));
  const lost = told.slice(before).filter((event) => event.startsWith('disconnect'));
  const sockets = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  const seen = { 'loss of a connection that was well': lost.includes(`disconnect ${name(here)}`), sockets };
  console.log(seen);
  assert.deepStrictEqual(seen, { 'loss of a connection that was well': true, sockets: 2 });
  process.exit(0);
})();
NODE
timeout 90 node run.cjs
