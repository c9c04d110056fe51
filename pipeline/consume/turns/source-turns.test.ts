// Projects take turns at a real broker: the source, its ledger, and a source after it.

import { expect, it, onTestFinished } from 'vitest';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { eventsStream, eventsSubject } from '../../../platform/broker/streams.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { createLog } from '../../../platform/log.ts';
import { encodeContext, projectMark } from '../../../proto/wire/frame.ts';
import { encodeFrame } from '../../../proto/wire/frame-writer.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { type Ledger, takeOverLedger } from '../../write/ledger.ts';
import { rangesOf, readLedgerRecord } from '../../write/ledger-record.ts';
import { openEventStream, streamCreated } from '../event-stream.ts';
import type { MessageBatch } from '../message-batch.ts';
import { MessageSource } from '../message-source.ts';

const broker = useBroker();
const rowsOfMessage = 10;

const sent = 40;
const limits = {
  maxRows: 10 * rowsOfMessage,
  maxBytes: 1e6,
  maxMessages: 100,
  // All messages fill half of it, from which on the source names the project that fills it.
  maxQueuedBytes: 2 * sent * frameOf('p').length,
  enoughShare: 1,
  minWaitMs: 1_000,
  minIntervalMs: 0,
  maxWaitMs: 1_000,
};

function frameOf(projectId: string): Uint8Array {
  const context = encodeContext({ projectId, credential: 'private', receiveTimeMs: 1 });
  const body = Buffer.from('{}');
  return encodeFrame([{ context, body, events: rowsOfMessage, project: projectMark(projectId) }]);
}

async function send(nats: NatsConnection, projects: string): Promise<void> {
  for (const project of projects)
    await nats.jetstream().publish(eventsSubject(0), frameOf(project));
}

async function open(nats: NatsConnection, writer: string) {
  const created = await streamCreated(nats, eventsStream(0));
  const retry = <T>(call: () => Promise<T>): Promise<T> => call();
  const { ledger } = await takeOverLedger({
    bucket: await openBucket(nats, buckets.ledger, readLedgerRecord),
    ...{ key: 'shard.0', streamCreated: created, writer, retry },
  });
  const stream = openEventStream({ connection: nats, stream: eventsStream(0), created, retry });
  const source = new MessageSource(stream, limits);
  onTestFinished(() => source.stop());
  await source.start(ledger);
  return { ledger, source };
}

async function store(source: MessageSource, ledger: Ledger): Promise<number[]> {
  const batch = await source.next();
  if (batch === undefined) throw new Error('the source has ended');
  await promise(ledger, batch);
  await ledger.finish();
  source.ack(batch);
  return seqsOf(batch);
}

async function promise(ledger: Ledger, batch: MessageBatch): Promise<void> {
  const { completeTo } = batch;
  const counts = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 };
  await ledger.begin({
    seqs: rangesOf(seqsOf(batch)),
    ...(completeTo !== undefined && { completeTo }),
    ...{ inserts: [], counts },
  });
}

const seqsOf = ({ messages }: MessageBatch): number[] => messages.map(({ seq }) => seq);

it('stores a project that sends little before the rest of one that fills the queue', async () => {
  const nats = await connectBroker(broker.url, createLog('silent'));
  onTestFinished(() => nats.close());
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  // Messages 1 to 30 are one project's, 31 and 33 another's.
  await send(nats, `${'p'.repeat(30)}qpq${'p'.repeat(7)}`);
  const first = await open(nats, 'a');
  await expect.poll(() => first.source.crowding(true)).toEqual([projectMark('p')]);
  expect(await store(first.source, first.ledger)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 31, 33]);
  expect(first.source.progress).toEqual({ waiting: 30, stored: 10 });
  expect([first.ledger.hwm, first.ledger.ahead]).toEqual([
    8,
    [
      [31, 31],
      [33, 33],
    ],
  ]);
  first.source.stop();

  // The next writer takes the others in order, and none of these again.
  const next = await open(nats, 'b');
  const taken: number[] = [];
  while (taken.length < 30) taken.push(...(await store(next.source, next.ledger)));
  const others = Array.from({ length: sent }, (_, index) => index + 1);
  const rest = others.filter((seq) => seq > 8 && seq !== 31 && seq !== 33);
  expect(taken).toEqual(rest);
  expect([next.ledger.hwm, next.ledger.ahead]).toEqual([sent, []]);
  const bucket = await openBucket(nats, buckets.ledger, readLedgerRecord);
  expect(await bucket.get('shard.0')).toMatchObject({ record: { lostMessages: 0 } });
});
