#!/usr/bin/env bash
# What is left on the disk of values in a key-value bucket with history 1, in the machine's nats-server (seen with
# 2.9.10), with nats.js 2.29.3.
# Guess: a bucket that keeps one value a key has no byte of an older one once a few more are written, and purge(), "a
# delete that removes what was before", leaves no byte of the value.
# Seen: a value that was replaced and one that was purged both stay readable in the block file, also after a restart of
# the server; only deleteMessage(stream, revision, true), asked while it is the newest one, overwrites its bytes.
# So who has to erase a person erases the message before a new value is put, or keeps such texts sealed.
set -euo pipefail
command -v nats-server >/dev/null || { echo 'skipped: needs nats-server'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund nats@2.29.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect, StringCodec } from 'nats';
const text = StringCodec();
const withBroker = async (work) => {
  const args = ['-a', '127.0.0.1', '-p', '-1', '-js', '-sd', 'data'];
  const broker = spawn('nats-server', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => broker.once('exit', resolve));
  try {
    const port = await new Promise((resolve) => {
      createInterface({ input: broker.stderr }).on('line', (line) => {
        const found = /client connections on 127\.0\.0\.1:(\d+)/.exec(line);
        if (found !== null) resolve(found[1]);
      });
    });
    const connection = await connect({ servers: `127.0.0.1:${port}` });
    const seen = await work(connection);
    await connection.close();
    return seen;
  } finally {
    broker.kill('SIGTERM');
    await ended;
  }
};
const left = () => {
  const files = readdirSync('data', { recursive: true }).map((name) => `data/${name}`);
  const bytes = files.filter((path) => statSync(path).isFile()).map((path) => readFileSync(path));
  const isLeft = (word) => bytes.some((one) => one.includes(word));
  return ['replaced-value', 'purged-value', 'erased-value'].filter(isLeft);
};
const version = await withBroker(async (connection) => {
  const bucket = await connection.jetstream().views.kv('records', { history: 1 });
  await bucket.put('replaced', text.encode('replaced-value'));
  await bucket.put('replaced', text.encode('newer'));
  await bucket.put('purged', text.encode('purged-value'));
  await bucket.purge('purged');
  const revision = await bucket.put('erased', text.encode('erased-value'));
  const manager = await connection.jetstreamManager();
  await manager.streams.deleteMessage('KV_records', revision, true);
  for (let more = 0; more < 500; more++) await bucket.put('other', text.encode(`more ${more}`));
  return connection.info.version;
});
await withBroker(async () => {});
const found = left();
console.log(`nats-server ${version}: left on the disk after a restart: ${found}`);
assert.deepStrictEqual(found, ['replaced-value', 'purged-value']);
NODE
timeout 60 node run.mjs
