#!/usr/bin/env bash
# The keys of a key-value bucket with nats 2.29.3 and with its successor @nats-io/kv 3.4.0 (the machine's nats-server; seen with
# 2.9.10), read in a loop that asks for each key's value: for await (const key of await kv.keys()) await kv.get(key).
# Guess: the loop sees every key, as it does without the get(): an iterator waits for whoever reads it.
# Seen: with nats 2.29.3 it ends after the first of 300 keys, without an error: the list is ended once the server has sent
# the last key, and what is still queued then is dropped. A loop that waits for nothing sees all; so does the successor.
# So all keys are gathered first, and only then is anything asked for.
set -euo pipefail
command -v nats-server >/dev/null || { echo 'skipped: needs nats-server'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund nats@2.29.3 @nats-io/kv@3.4.0 @nats-io/transport-node@3.4.0 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Kvm } from '@nats-io/kv';
import * as successor from '@nats-io/transport-node';
import { connect } from 'nats';
const keys = 300;
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
  const servers = `127.0.0.1:${port}`;
  const [connection, other] = [await connect({ servers }), await successor.connect({ servers })];
  const buckets = {
    'nats 2.29.3': await connection.jetstream().views.kv('shops'),
    '@nats-io/kv 3.4.0': await new Kvm(other).create('shops'),
  };
  for (let at = 0; at < keys; at++) await buckets['nats 2.29.3'].put(`shop-${at}`, 'open');
  const seen = {};
  for (const [name, bucket] of Object.entries(buckets)) {
    let alone = 0;
    for await (const _ of await bucket.keys()) alone++;
    let withValues = 0;
    for await (const key of await bucket.keys()) {
      await bucket.get(key);
      withValues++;
    }
    seen[name] = { alone, withValues };
  }
  console.log(`of ${keys} keys:`, seen);
  await connection.close();
  await other.close();
  assert.equal(seen['nats 2.29.3'].alone, keys);
  assert.ok(seen['nats 2.29.3'].withValues < keys / 2);
  assert.deepStrictEqual(seen['@nats-io/kv 3.4.0'], { alone: keys, withValues: keys });
} finally {
  broker.kill('SIGTERM');
  await ended;
}
NODE
timeout 60 node run.mjs
