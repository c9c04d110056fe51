// A stream whose directory is put back from a copy that was made too early: it counts again, and gives sequences that
// are done or promised to new messages. None of these may be taken for done.

import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { eventsLedgerKey, eventsStream, eventsSubject } from '../platform/broker/streams.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { retry } from '../platform/retry.ts';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import { openEventStream, streamCreated } from './consume/event-stream.ts';
import { GivenAnewError } from './consume/given-anew.ts';
import { deleteLeftovers } from './consume/leftover-messages.ts';
import { newestMsOf, readAgain } from './consume/message-batch.ts';
import { MessageSource } from './consume/message-source.ts';
import { openStoredMessages, queueState } from './consume/queue-state.ts';
import { eventBatches } from './event-shard.ts';
import { haltedByLoss, noteLoss } from './lost-messages.ts';
import { type Ledger, takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';

const stream = eventsStream(0);
const log = createLog('silent');
const signal = AbortSignal.timeout(120_000);
const untilAnswered = <T>(call: () => Promise<T>): Promise<T> =>
  retry(call, { signal, baseMs: 20, capMs: 200 });
const counts = { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0 };
const broker = useBroker();
let nats: NatsConnection;
let created = '';
let writers = 0;

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  created = await streamCreated(nats, stream);
});
afterAll(() => nats.close());

async function publish(messages: number): Promise<number> {
  let last = 0;
  for (let count = 0; count < messages; count++) {
    last = (await untilAnswered(() => nats.jetstream().publish(eventsSubject(0), Buffer.from('m'))))
      .seq;
  }
  return last;
}

function open() {
  return openEventStream({ connection: nats, stream, created, retry: untilAnswered });
}

async function takeOver(): Promise<Ledger> {
  const bucket = await untilAnswered(() => openBucket(nats, buckets.ledger, readLedgerRecord));
  const writer = `writer ${++writers}`;
  const options = { bucket, key: eventsLedgerKey(0), streamCreated: created, writer };
  return (await takeOverLedger({ ...options, retry: untilAnswered })).ledger;
}

async function promise(ledger: Ledger, first: number, last: number): Promise<void> {
  const batch = await readAgain(open(), [[first, last]]);
  const newestMs = batch && newestMsOf(batch);
  expect(await ledger.begin({ seqs: [[first, last]], inserts: [], counts }, newestMs)).toBe(
    'written',
  );
}

/** Resolves with the halt, or with undefined where the writer may begin. */
function halted(mark: Ledger) {
  return haltedByLoss(
    {
      ...{ nats, stream, shard: 0, mark, log, clock: systemClock, untilAnswered },
      ...{ stop: AbortSignal.abort(), abort: signal, onState: () => {} },
    },
    { wait: async () => {} },
  );
}

it('halts a writer before its promised batch, and takes no new message for one that is done', async () => {
  const copies = mkdtempSync(join(tmpdir(), 'millrace-copy-'));
  onTestFinished(() => rmSync(copies, { recursive: true }));
  const names = readdirSync(broker.dir, { recursive: true, encoding: 'utf8' });
  const directory = join(
    broker.dir,
    names.find((name) => name.endsWith(`/streams/${stream}`)) ?? '',
  );
  const restart = async (): Promise<void> => {
    await broker.restart();
    await untilAnswered(() => queueState(nats, stream));
  };
  await publish(2);
  await broker.kill9();
  cpSync(directory, copies, { recursive: true });
  await restart();
  expect(await publish(4)).toBe(6);
  const writer = await takeOver();
  await promise(writer, 1, 4);
  await writer.finish();
  await promise(writer, 5, 6);
  expect(await halted(writer)).toBeUndefined();

  await broker.kill9();
  rmSync(directory, { recursive: true });
  cpSync(copies, directory, { recursive: true });
  await restart();
  const endsAt = (seq: number) => {
    return {
      kind: 'halted',
      reason: expect.stringContaining(`ends at ${seq}, and messages up to 6`),
    };
  };
  expect(await halted(await takeOver())).toEqual(endsAt(2));
  // Up to the mark alone it would have gone on, and asked for the promised messages for ever.
  expect(await publish(2)).toBe(4);
  expect(await halted(await takeOver())).toEqual(endsAt(4));

  expect(await publish(4)).toBe(8);
  const third = await takeOver();
  const anew = { kind: 'halted', reason: expect.stringContaining('new ones') };
  expect(await halted(third)).toEqual(anew);
  const stored = openStoredMessages(nats, stream);
  const before = await stored.state();
  const mark = { streamCreated: created, hwm: third.hwm, newestMs: third.newestMs };
  const deleting = deleteLeftovers(stored, mark, signal);
  await expect(deleting).rejects.toMatchObject({ lost: { seq: 3 } });
  const source = new MessageSource(open(), eventBatches);
  await source.start({
    ...{ hwm: 6, lastDone: 6, newestMs: third.newestMs },
    isDone: (seq) => seq <= 6,
  });
  const ended = await source.next().then(
    () => source.next(),
    (error: unknown) => error,
  );
  expect(ended).toBeInstanceOf(GivenAnewError);
  expect((await stored.state()).messages).toBe(before.messages);

  await noteLoss(third, ended);
  const fourth = await takeOver();
  expect(fourth.lost).toEqual({ seq: expect.any(Number), newestMs: third.newestMs });
  expect(await halted(fourth)).toEqual(anew);
});

it('knows no times of what an older version has written', async () => {
  const bucket = await openBucket(nats, buckets.ledger, readLedgerRecord);
  const key = eventsLedgerKey(9);
  const options = { bucket, key, streamCreated: created, retry: untilAnswered };
  const { ledger } = await takeOverLedger({ ...options, writer: 'newer' });
  await ledger.begin({ seqs: [[1, 3]], inserts: [], counts }, 500);
  await ledger.finish();
  await ledger.begin({ seqs: [[4, 5]], inserts: [], counts }, 400);
  expect(ledger.newestMs).toBe(500);
  await ledger.finish();
  expect((await takeOverLedger({ ...options, writer: 'next' })).ledger.newestMs).toBe(500);
  const read = await bucket.get(key);
  if (read.kind !== 'found') throw new Error('no record');
  const older = { ...read.record, hwm: 7, ahead: [[12, 12] satisfies [number, number]] };
  await bucket.update(key, older, read.revision);
  const { ledger: later } = await takeOverLedger({ ...options, writer: 'later' });
  expect(later.newestMs).toBeUndefined();
  // Its message is older than that of 12, which is done.
  await later.begin({ seqs: [[8, 9]], inserts: [], counts }, 600);
  expect(later.newestMs).toBeUndefined();
  await later.finish();
  await later.begin({ seqs: [[10, 13]], inserts: [], counts }, 700);
  expect(later.newestMs).toBe(700);
});
