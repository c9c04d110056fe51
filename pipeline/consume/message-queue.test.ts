import { describe, expect, it } from 'vitest';
import { encodeContext, frameProjects, importMark, projectMark } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import type { StreamMessage } from './event-stream.ts';
import { type BatchLimits, MessageQueue } from './message-queue.ts';

const limits: BatchLimits = {
  ...{ maxRows: 80, maxBytes: 1e6, maxMessages: 100, enoughShare: 0.5 },
  maxQueuedBytes: 1e6,
  ...{ minWaitMs: 60_000, minIntervalMs: 0, maxWaitMs: 60_000 },
};

let seq = 0;

function push(
  queue: MessageQueue,
  messages: number,
  events: number,
  padding = 0,
  project?: number,
): boolean[] {
  const context = encodeContext({ projectId: 'p', credential: 'public', receiveTimeMs: 1 });
  return Array.from({ length: messages }, () => {
    const data = encodeFrame([
      { context, body: Buffer.alloc(padding, ' '), events, ...(project && { project }) },
    ]);
    const message: StreamMessage = { seq: ++seq, data };
    return queue.push(message);
  });
}

const taken = (queue: MessageQueue) => queue.take().length;

describe('the queue', () => {
  it('closes a batch at its share of the rows', () => {
    const queue = new MessageQueue(limits);
    push(queue, 3, 10);
    expect(queue.openMs(true)).toBeGreaterThan(0);
    push(queue, 1, 10);
    expect(queue.openMs(true)).toBe(0);
    expect(taken(queue)).toBe(4);
  });

  it('closes it at its share of the bytes', () => {
    const queue = new MessageQueue({ ...limits, maxBytes: 4_000 });
    push(queue, 1, 1, 1_500);
    expect(queue.openMs(true)).toBeGreaterThan(0);
    push(queue, 1, 1, 1_500);
    expect(queue.openMs(true)).toBe(0);
  });

  it('takes all that waits when a batch is closed, up to the most, and leaves the rest', () => {
    const queue = new MessageQueue(limits);
    push(queue, 13, 10);
    expect(taken(queue)).toBe(8);
    expect(queue.openMs(true)).toBe(0);
    expect(taken(queue)).toBe(5);
    push(queue, 3, 10);
    expect(queue.openMs(true)).toBeGreaterThan(0);
  });

  it('gathers longer where batches came steadily, until enough rows wait', () => {
    const gather = { intervalMs: 60_000, maxRows: 30, quickBatches: 2 };
    const queue = new MessageQueue({ ...limits, minWaitMs: 0, gather });
    for (let batch = 0; batch < 2; batch++) {
      push(queue, 1, 10);
      expect(queue.openMs(false)).toBeLessThanOrEqual(0);
      expect(taken(queue)).toBe(1);
    }
    push(queue, 1, 10);
    expect(queue.openMs(false)).toBeGreaterThan(1_000);
    expect(push(queue, 1, 10)).toEqual([false]);
    expect(push(queue, 1, 10)).toEqual([true]);
    expect(queue.openMs(false)).toBeLessThanOrEqual(0);
  });

  it('gathers no longer while an import waits', () => {
    const gather = { intervalMs: 60_000, maxRows: 30, quickBatches: 0 };
    const queue = new MessageQueue({ ...limits, minWaitMs: 0, gather });
    push(queue, 1, 1);
    queue.take();
    push(queue, 1, 1);
    expect(queue.openMs(false)).toBeGreaterThan(1_000);
    expect(push(queue, 1, 1, 0, importMark('p'))).toEqual([true]);
    expect(queue.openMs(false)).toBeLessThanOrEqual(0);
  });

  it('takes messages back into their places, and has room for so many', () => {
    const queue = new MessageQueue({ ...limits, maxQueuedMessages: 4 });
    push(queue, 3, 10);
    const [first, second, third] = queue.take();
    push(queue, 1, 10);
    expect(queue.hasRoom(0)).toBe(true);
    for (const message of [first, third]) queue.giveBack(message === undefined ? [] : [message]);
    expect(queue.firstSeq).toBe(first?.seq);
    push(queue, 1, 10);
    expect(queue.hasRoom(0)).toBe(false);
    const seqs = queue.take().map((message) => message.seq - (second?.seq ?? 0));
    expect(seqs).toEqual([-1, 1, 2, 3]);
    expect(queue.hasEnough).toBe(false);
  });

  it('has room for so many bytes', () => {
    const queue = new MessageQueue({ ...limits, maxQueuedBytes: 4_000 });
    push(queue, 2, 1, 1_500);
    expect(queue.hasRoom(0)).toBe(true);
    expect(queue.hasRoom(1_000)).toBe(false);
    push(queue, 1, 1, 1_500);
    expect(queue.hasRoom(0)).toBe(false);
  });

  it('holds imports back while events of now come, and gives an import that is alone whole batches', () => {
    const queue = new MessageQueue({ ...limits, maxImportRows: 10 });
    push(queue, 6, 10, 0, importMark('p'));
    expect(queue.openMs(true)).toBe(0);
    expect(taken(queue)).toBe(6);
    push(queue, 6, 10, 0, importMark('p'));
    push(queue, 1, 10, 0, projectMark('p'));
    // Their rows close no batch, and one of them goes with the event of now.
    expect(queue.openMs(true)).toBeGreaterThan(0);
    expect(taken(queue)).toBe(2);
    push(queue, 4, 10, 0, projectMark('p'));
    expect(queue.openMs(true)).toBe(0);
    const projects = queue.take().flatMap(({ data }) => frameProjects(data));
    expect(projects).toEqual([importMark('p'), ...Array(3).fill(projectMark('p'))]);
  });

  it('gathers imports that are alone until a batch is full, and an event of now ends that', () => {
    const queue = new MessageQueue({ ...limits, maxWaitMs: 50, maxImportWaitMs: 60_000 });
    push(queue, 7, 10, 0, importMark('p'));
    expect(queue.openMs(false)).toBeGreaterThan(100);
    expect(queue.openMs(false)).toBeLessThanOrEqual(300);
    push(queue, 1, 10, 0, importMark('p'));
    expect(queue.openMs(false)).toBe(0);
    expect(taken(queue)).toBe(8);
    const isSooner = [importMark('p'), importMark('p'), projectMark('p'), projectMark('p')].map(
      (mark) => push(queue, 1, 1, 0, mark).at(-1),
    );
    expect(isSooner).toEqual([true, false, true, false]);
    expect(queue.openMs(true)).toBeLessThanOrEqual(50);
  });

  it('gives batches beside waiting imports a shorter interval', () => {
    const pace = { minWaitMs: 0, minIntervalMs: 60_000, minImportIntervalMs: 30_000 };
    const queue = new MessageQueue({ ...limits, ...pace, maxImportRows: 10 });
    push(queue, 1, 10, 0, projectMark('p'));
    queue.take();
    push(queue, 1, 10, 0, projectMark('p'));
    expect(queue.openMs(false)).toBeGreaterThan(50_000);
    push(queue, 1, 10, 0, importMark('p'));
    expect(queue.openMs(false)).toBeLessThanOrEqual(30_000);
  });

  it('tells imports to slow down that are batches ahead while events of now come', () => {
    const queue = new MessageQueue({ ...limits, maxImportRows: 10 });
    push(queue, 4, 10, 0, importMark('p'));
    expect(queue.crowding(false)).toEqual([]);
    push(queue, 1, 10, 0, projectMark('q'));
    expect(queue.crowding(false)).toEqual([importMark('p')]);
    queue.take();
    expect(queue.crowding(false)).toEqual([]);
  });
});
