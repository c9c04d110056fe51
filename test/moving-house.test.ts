// The way from embedded engines to servers of one's own and back: a backup of the one, restored into the other, with
// the same rows. The servers are a nats-server and an engine in processes of their own, which the service knows by URL.

import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readManifest } from '../backup/manifest.ts';
import { streamParts } from '../platform/broker/cluster/stream-peers.ts';
import { connectBroker } from '../platform/broker/nats.ts';
import { eventsStream, profilesStream } from '../platform/broker/streams.ts';
import { createLog } from '../platform/log.ts';
import { admin, startAdmin } from './harness/backups/admin-run.ts';
import { startSteadyLoad } from './harness/backups/steady-load.ts';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { operatorUrl, startBroker } from './harness/servers/broker.ts';
import { startBrokerCluster } from './harness/servers/cluster/broker-cluster.ts';
import { startEngine } from './harness/servers/engine.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-house-'));
const at = (name: string): string => join(directory, name);
afterAll(() => removeFolder(directory));

/** What the tables say, however their rows are merged. */
const figures = (url: string) =>
  rows(
    url,
    `SELECT
      (SELECT (count(), uniqExact(event_id), sum(cityHash64(event_id, kind, profile_key, string_properties, stream_seq))) FROM events) AS events,
      (SELECT (uniqExact(profile_id), sum(total_events), uniqExactMerge(sessions)) FROM profile_activity) AS activity,
      (SELECT (count(), sum(cityHash64(profile_id, root, traits, version))) FROM profiles FINAL) AS profiles,
      (SELECT sum(events) FROM event_counts) AS counts,
      (SELECT (count(), groupBitXor(cityHash64(session_id, kind, pathname))) FROM visit_entries FINAL) AS entries`,
  );

/** All that was accepted is done: its messages are gone from the queues. */
async function storedWholly(
  stack: Pick<Stack, 'natsUrl' | 'clickhouseUrl'>,
  events: number,
): Promise<void> {
  const connection = await connectBroker(stack.natsUrl, createLog('silent'));
  const { streams } = await connection.jetstreamManager();
  for (const name of [eventsStream(0), profilesStream(0)]) {
    await eventually(
      async () => (await streams.info(name)).state.messages,
      (messages) => messages === 0,
    );
  }
  await connection.close();
  await eventually(
    () => rows<{ count: number }>(stack.clickhouseUrl, 'SELECT count() AS count FROM events'),
    ([row]) => row?.count === events,
  );
}

let embedded: Stack;
let before: unknown;
let sent = 0;

it("leads to servers of one's own and back, with the same rows", async () => {
  embedded = await startStack({ dataDir: at('a') });
  const load = startSteadyLoad(() => embedded);
  await eventually(
    async () => load.acknowledged.size,
    (count) => count > 2_000,
  );
  await load.stop();
  sent = load.sent.size;
  await storedWholly(embedded, sent);
  before = await figures(embedded.clickhouseUrl);
  const first = await admin(at('a'), ['backup', at('first')]);
  expect(first).toMatchObject({ code: 0, error: '' });
  expect(readManifest(at('first'))?.store.kind).toBe('parts');
  await embedded.stop();

  const broker = await startBroker();
  const engine = await startEngine({ migrated: false });
  const urls = { NATS_URL: operatorUrl(broker), CLICKHOUSE_URL: engine.url };
  try {
    const cut = startAdmin(at('b'), ['restore', at('first')], urls);
    await eventually(
      async () => existsSync(at('b/restoring')) && readFileSync(at('b/restoring'), 'utf8'),
      Boolean,
    );
    cut.child.kill('SIGKILL');
    await cut.ended;
    expect(await admin(at('b'), ['restore', at('first')], urls)).toMatchObject({
      code: 0,
      error: '',
    });
    expect(await figures(engine.url)).toEqual(before);
    const refused = await admin(at('x'), ['restore', at('first')], urls);
    expect(refused.error).toMatch(
      /^millrace: the broker holds the stream \S+ already: restore into an empty one\n$/,
    );

    const env = { NATS_URL: broker.url, CLICKHOUSE_URL: engine.url };
    const own = await startStack({ dataDir: at('b'), env });
    expect(own.privateKey).toBe(embedded.privateKey);
    const more = Array.from({ length: 30 }, () => newEvent({ distinctId: 'in the second house' }));
    await batchCreate(own, more);
    await storedWholly({ ...own, clickhouseUrl: engine.url }, sent + more.length);
    const there = await figures(engine.url);
    const second = await admin(at('b'), ['backup', at('second')], urls);
    expect(second).toMatchObject({ code: 0, error: '' });
    expect(readManifest(at('second'))?.store.kind).toBe('rows');
    const again = await admin(at('b'), ['backup', at('second')], urls);
    expect(again.out).toMatch(/ parts, [0-3] of them new, /);
    await own.stop();

    expect(await admin(at('c'), ['restore', at('second')])).toMatchObject({ code: 0, error: '' });
    const back = await startStack({ dataDir: at('c') });
    expect(await figures(back.clickhouseUrl)).toEqual(there);
    await batchCreate(back, [newEvent()]);
    await storedWholly(back, sent + more.length + 1);
    expect(await admin(at('c'), ['check'])).toMatchObject({ code: 0, error: '' });
    await back.stop();
  } finally {
    await engine.stop();
    await broker.stop();
  }
});

it('leads to a broker of three, whose streams then have three copies', async () => {
  const [cluster, engine] = await Promise.all([
    startBrokerCluster(),
    startEngine({ migrated: false }),
  ]);
  try {
    const operator = { NATS_URL: cluster.operatorUrl, CLICKHOUSE_URL: engine.url };
    const restored = await admin(at('d'), ['restore', at('first')], operator);
    expect(restored).toMatchObject({ code: 0, error: '' });
    expect(await figures(engine.url)).toEqual(before);
    const env = { NATS_URL: cluster.url, CLICKHOUSE_URL: engine.url };
    const own = await startStack({ dataDir: at('d'), env });
    expect(own.privateKey).toBe(embedded.privateKey);
    const more = Array.from({ length: 30 }, () => newEvent({ distinctId: 'in the third house' }));
    // A stream that gets more copies may have no leader for a moment.
    await eventually(
      () => batchCreate(own, more),
      ({ status }) => status === 200,
    );
    await storedWholly({ ...own, clickhouseUrl: engine.url }, sent + more.length);
    const connection = await connectBroker(cluster.operatorUrl, createLog('silent'));
    const { streams } = await connection.jetstreamManager();
    for (const name of streamParts(1).flatMap((part) => part.streams)) {
      const { config } = await streams.info(name);
      expect([name, config.num_replicas]).toEqual([name, 3]);
    }
    await connection.close();
    expect(await own.stop()).toMatchObject({ code: 0 });
  } finally {
    await engine.stop();
    await cluster.stop();
  }
});
