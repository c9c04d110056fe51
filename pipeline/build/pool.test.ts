// The talk of writer and builder with real threads. What is built is tested in build-batch.test.ts.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { compiledWorker } from '../../test/harness/compiled-entries.ts';
import { BatchBuilder } from './build-batch.ts';
import { type BuilderPool, createBuilderPool } from './pool.ts';
import type { BatchIds, Messages, Verdict } from './thread-messages.ts';

const secret = Buffer.alloc(32, 3);
const options = { threads: 2, secret, workerFile: compiledWorker() };
let pool: BuilderPool;

beforeAll(() => {
  pool = createBuilderPool(options);
});

afterAll(() => pool.close());

function messages(events: number): Messages {
  const context = {
    projectId: 'p',
    credential: 'public',
    receiveTimeMs: Date.UTC(2026, 10, 20),
  } as const;
  const sent = Array.from({ length: events }, (_, n) => ({
    eventId: randomUUID(),
    sessionId: randomUUID(),
    distinctId: `v${n}`,
    kind: 'click',
    occurTime: n % 2 === 0 ? '2026-11-20T00:00:00Z' : '2026-10-20T00:00:00Z',
    autoProperties: { $url: { stringValue: 'https://a.example/' } },
  }));
  const frame = encodeFrame([
    {
      context: encodeContext(context),
      body: Buffer.from(JSON.stringify({ events: sent })),
      events,
    },
  ]);
  return {
    seqs: Float64Array.of(5),
    lengths: Uint32Array.of(frame.length),
    bytes: new Uint8Array(frame),
  };
}

describe('the pool', () => {
  it('builds in a thread exactly the batch that is built here', async () => {
    const sent = messages(500);
    const builder = new BatchBuilder(secret);
    const ids = builder.read(2, { ...sent, bytes: sent.bytes.slice() });
    const dropped = new Uint8Array(63).fill(1);
    const here = builder.finish({ dropped });
    let asked: BatchIds | undefined;
    const lent = sent.bytes.buffer;
    const size = lent.byteLength;
    const there = await pool.build(2, sent, async (found) => {
      asked = found;
      return { dropped };
    });
    expect(asked).toEqual(ids);
    expect(there).toEqual(here);
    expect(there.counts.dropped).toBe(63);
    // Handed over and back, not copied.
    expect(lent.byteLength).toBe(0);
    expect(sent.bytes.buffer.byteLength).toBe(size);
  });

  it('builds many at once, each with its own verdict', async () => {
    const batches = Array.from({ length: 20 }, (_, n) => n + 1);
    const built = await Promise.all(
      batches.map((n) =>
        pool.build(0, messages(n), async (ids) => {
          expect(ids.rows).toBe(n);
          await new Promise((resolve) => setTimeout(resolve, n % 5));
          return { dropped: Uint8Array.of(1) };
        }),
      ),
    );
    expect(built.map(({ counts }) => counts.stored)).toEqual(batches.map((n) => n - 1));
    expect(pool.active).toBe(0);
  });

  it('lends no thread to a batch whose verdict is late', async () => {
    const one = createBuilderPool({ ...options, threads: 1 });
    const sent = messages(4);
    const copy = { ...sent, bytes: sent.bytes.slice() };
    let give = (_: Verdict): void => {};
    const verdict = new Promise<Verdict>((resolve) => {
      give = resolve;
    });
    let asked = 0;
    const late = one.build(0, sent, () => {
      asked++;
      return verdict;
    });
    const other = await one.build(1, messages(3), async () => ({ dropped: undefined }));
    expect(other.counts.stored).toBe(3);
    give({ dropped: Uint8Array.of(1) });
    const again = await one.build(0, copy, async () => ({ dropped: Uint8Array.of(1) }));
    expect(await late).toEqual(again);
    expect(asked).toBe(1);
    expect(one.active).toBe(0);
    await one.close();
  });

  it('has no thread before a batch comes, and none a while after the last', async () => {
    const ends: Promise<unknown>[] = [];
    const note = (worker: Worker): void => void ends.push(once(worker, 'exit'));
    process.on('worker', note);
    const idle = createBuilderPool({ ...options, threads: 1, idleMs: 20 });
    expect(ends).toHaveLength(0);
    for (const started of [1, 2]) {
      const built = await idle.build(0, messages(3), async () => ({ dropped: undefined }));
      expect(built.counts.stored).toBe(3);
      expect(ends).toHaveLength(started);
      await ends.at(-1);
    }
    process.off('worker', note);
    await idle.close();
  });

  it('fails where the writer has no verdict, and goes on', async () => {
    for (let n = 0; n < 5; n++) {
      const decide = () => Promise.reject(new Error('no verdict'));
      await expect(pool.build(0, messages(3), decide)).rejects.toThrow('no verdict');
    }
    const built = await pool.build(0, messages(3), async () => ({ dropped: undefined }));
    expect(built.counts.stored).toBe(3);
  });

  it('fails where its thread fails, and goes on', async () => {
    const broken = { ...messages(3), lengths: new Uint32Array(1) };
    Object.assign(broken, { seqs: undefined });
    await expect(pool.build(0, broken, async () => ({ dropped: undefined }))).rejects.toThrow();
    const built = await pool.build(0, messages(3), async () => ({ dropped: undefined }));
    expect(built.counts.stored).toBe(3);
  });
});
