#!/usr/bin/env bash
# The duplicate window of JetStream in the machine's nats-server (seen with 2.9.10), with nats.js 2.29.3.
# Guess: within the window a message id is known, whatever became of its message, and also after a restart; only a purge
# forgets the ids of what it purges.
# Seen: a purge forgets none: what is published again is answered "duplicate" and is stored nowhere. A restart builds
# the window from the messages that are left, and forgets the ids of all that were consumed, purged or pushed out.
# So a publisher that tries again after a broker's restart has its message worked on twice by a work queue, and one that
# fills a purged stream again has it stay empty: ids need a part that is new for each filling.
set -euo pipefail
command -v nats-server >/dev/null || { echo 'skipped: needs nats-server'; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
timeout 120 npm install --silent --no-audit --no-fund nats@2.29.3 >/dev/null
cat > run.mjs <<'NODE'
import assert from 'node:assert';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { AckPolicy, connect, nanos, RetentionPolicy } from 'nats';
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
    const seen = await work(connection, await connection.jetstreamManager());
    await connection.close();
    return seen;
  } finally {
    broker.kill('SIGTERM');
    await ended;
  }
};
const publishAll = async (connection) => {
  const answers = {};
  for (const stream of ['kept', 'consumed', 'purged', 'pushed']) {
    const { duplicate } = await connection.jetstream().publish(stream, '', { msgID: 'first' });
    answers[stream] = duplicate ? 'duplicate' : 'stored';
  }
  return answers;
};
const [version, once, again] = await withBroker(async (connection, manager) => {
  const duplicate_window = nanos(600_000);
  const add = (name, more) => manager.streams.add({ name, subjects: [name], duplicate_window, ...more });
  await add('kept', {});
  await add('consumed', { retention: RetentionPolicy.Workqueue });
  await add('purged', {});
  await add('pushed', { max_msgs: 1 });
  await manager.consumers.add('consumed', { durable_name: 'worker', ack_policy: AckPolicy.Explicit });
  const once = await publishAll(connection);
  const worker = await connection.jetstream().consumers.get('consumed', 'worker');
  await (await worker.next()).ackAck();
  await manager.streams.purge('purged');
  await connection.jetstream().publish('pushed', '', { msgID: 'second' });
  return [connection.info.version, once, await publishAll(connection)];
});
const restarted = await withBroker(publishAll);
const seen = { once, again, restarted };
console.log(`nats-server ${version}:`, seen);
assert.deepStrictEqual(seen, {
  once: { kept: 'stored', consumed: 'stored', purged: 'stored', pushed: 'stored' },
  again: { kept: 'duplicate', consumed: 'duplicate', purged: 'duplicate', pushed: 'duplicate' },
  restarted: { kept: 'duplicate', consumed: 'stored', purged: 'stored', pushed: 'stored' },
});
NODE
timeout 60 node run.mjs
