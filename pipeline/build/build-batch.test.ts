// The builder from frames to record batches. rows/scanned-rows.test.ts compares its two paths of a body.

import { randomUUID } from 'node:crypto';
import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeContext, type RequestContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { BatchBuilder } from './build-batch.ts';
import type { Messages } from './thread-messages.ts';

const secret = Buffer.alloc(32, 1);
const receiveTimeMs = Date.UTC(2026, 10, 20, 12);

interface Sent {
  project?: string;
  events: unknown[];
  context?: Partial<RequestContext>;
}

function event(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    eventId: randomUUID(),
    sessionId: randomUUID(),
    distinctId: 'v',
    kind: 'click',
    occurTime: '2026-11-20T10:00:00Z',
    ...fields,
  };
}

function frame(...requests: Sent[]): Uint8Array {
  return encodeFrame(
    requests.map(({ project = 'p', events, context }) => ({
      context: encodeContext({
        projectId: project,
        credential: 'public',
        receiveTimeMs,
        ...context,
      }),
      body: Buffer.from(JSON.stringify({ events })),
      events: events.length,
    })),
  );
}

function pack(...frames: Uint8Array[]): Messages {
  return {
    seqs: Float64Array.from(frames, (_, index) => 100 + index),
    lengths: Uint32Array.from(frames, ({ length }) => length),
    bytes: new Uint8Array(Buffer.concat(frames)),
  };
}

function rowsOf(arrow: Uint8Array): Record<string, unknown>[] {
  return tableFromIPC(arrow)
    .toArray()
    .map((row) => row.toJSON());
}

function bitmap(rows: number, dropped: readonly number[]): Uint8Array {
  const bits = new Uint8Array((rows + 7) >>> 3);
  for (const row of dropped) bits[row >>> 3] = (bits[row >>> 3] ?? 0) | (1 << (row & 7));
  return bits;
}

describe('a batch', () => {
  it('has every event of every request of every frame, with the sequence of its message', () => {
    const builder = new BatchBuilder(secret);
    const first = frame({ events: [event({ kind: 'a' }), event({ kind: 'b' })] });
    const second = frame(
      {
        project: 'q',
        events: [event({ kind: 'c' })],
        context: { receiveTimeMs: receiveTimeMs - 5 },
      },
      { events: [] },
      { events: [event({ kind: 'd' })] },
    );
    const ids = builder.read(3, pack(first, second));
    expect(ids).toMatchObject({
      rows: 4,
      projects: ['p', 'q'],
      projectOf: Int32Array.of(0, 0, 1, 0),
      occurTimesMs: new Float64Array(4).fill(Date.UTC(2026, 10, 20, 10)),
      firstSeq: 100,
      lastSeq: 101,
      minReceiveTimeMs: receiveTimeMs - 5,
      maxReceiveTimeMs: receiveTimeMs,
    });
    const built = builder.finish({ dropped: undefined });
    expect(built.counts).toEqual({ accepted: 4, stored: 4, repeats: 0, dropped: 0, unreadable: 0 });
    expect(built.deadLetters).toEqual([]);
    expect(built.rows).toMatchObject({ rows: 4, partitions: 1 });
    const rows = rowsOf(built.rows?.arrow ?? new Uint8Array());
    expect(
      rows.map((row) => [row['project_id'], row['kind'], row['shard'], Number(row['stream_seq'])]),
    ).toEqual([
      ['p', 'a', 3, 100],
      ['p', 'b', 3, 100],
      ['q', 'c', 3, 101],
      ['p', 'd', 3, 101],
    ]);
  });

  it('has an event id of a project once: its first event, whatever the spelling, request or frame of the others', () => {
    const builder = new BatchBuilder(secret);
    const eventId = 'abcdefab-0000-4000-8000-000000000001';
    const again = eventId.toUpperCase();
    const frames = [
      frame(
        { events: [event({ eventId, kind: 'first' }), event({ eventId: again, kind: 'second' })] },
        { project: 'q', events: [event({ eventId, kind: 'other project' })] },
      ),
      frame({ events: [event({ eventId, kind: 'third', occurTime: '2026-10-01T00:00:00Z' })] }),
    ];
    expect(builder.read(0, pack(...frames)).rows).toBe(2);
    const built = builder.finish({ dropped: undefined });
    expect(built.counts).toMatchObject({ accepted: 4, stored: 2, repeats: 2 });
    const rows = rowsOf(built.rows?.arrow ?? new Uint8Array());
    expect(rows.map((row) => row['kind'])).toEqual(['first', 'other project']);
  });

  it('of many months is one record batch, in the order of events, and knows its partitions', () => {
    const builder = new BatchBuilder(secret);
    const events = Array.from({ length: 320 }, (_, n) =>
      event({ occurTime: new Date(Date.UTC(2000, n, 1) - (n % 2)).toISOString(), kind: `k${n}` }),
    );
    builder.read(0, pack(frame({ events })));
    const built = builder.finish({ dropped: bitmap(320, [0, 1, 319]) });
    expect(built.counts).toMatchObject({ accepted: 320, stored: 317, dropped: 3 });
    // 2024, 2025, 2026, and all before.
    expect(built.rows).toMatchObject({ rows: 317, partitions: 4 });
    const rows = rowsOf(built.rows?.arrow ?? new Uint8Array());
    expect(rows.map((row) => row['kind'])).toEqual(events.slice(2, 319).map(({ kind }) => kind));
  });

  it('is built for one month as an older version built it beside the others', () => {
    const builder = new BatchBuilder(secret);
    const times = ['2026-11-01T00:00:00Z', '2026-10-31T23:59:59.999Z', '2000-01-01T00:00:00Z'];
    const events = Array.from({ length: 30 }, (_, n) =>
      event({ occurTime: times[n % 3], kind: `k${n}` }),
    );
    const dropped = bitmap(30, [0, 1, 4, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29]);
    const months = [202610, 202611, 200001].map((month) => {
      expect(builder.read(0, pack(frame({ events })), month).rows).toBe(30);
      return builder.finish({ dropped }).rows;
    });
    const kinds = months.map((month) => month && rowsOf(month.arrow).map((row) => row['kind']));
    const expected = (rest: number) =>
      events.flatMap((_, n) => (n % 3 === rest && ![0, 1, 4].includes(n) ? `k${n}` : []));
    expect(kinds).toEqual([expected(1), expected(0), undefined]);
    // As if the batch had been of that month alone: texts of other months are no part of the bytes.
    const october = new BatchBuilder(secret);
    october.read(0, pack(frame({ events: events.filter((_, n) => n % 3 === 1) })));
    expect(october.finish({ dropped: bitmap(10, [0, 1]) }).rows).toEqual(months[0]);
  });

  it('has the same bytes when it is built again, by another builder with another secret', () => {
    const frames = Array.from({ length: 5 }, (_, n) =>
      frame({
        project: `p${n % 2}`,
        events: Array.from({ length: 200 }, (_, m) =>
          event({ occurTime: m % 50 === 0 ? '2026-09-01T00:00:00Z' : '2026-11-20T10:00:00Z' }),
        ),
      }),
    );
    const dropped = bitmap(1_000, [3, 50, 999]);
    const used = new BatchBuilder(secret);
    used.read(0, pack(frame({ events: [event(), event({ occurTime: '2026-01-01T00:00:00Z' })] })));
    used.finish({ dropped: undefined });
    const builders = [used, new BatchBuilder(Buffer.alloc(32, 2))];
    const [first, second] = builders.map((builder) => {
      const { keys } = builder.read(0, pack(...frames));
      return { keys, built: builder.finish({ dropped }) };
    });
    expect(second?.built).toEqual(first?.built);
    expect(second?.keys).not.toEqual(first?.keys);
    const other = used.read(0, pack(...frames.toReversed()));
    expect(other.rows).toBe(1_000);
    const reversed = used.finish({ dropped });
    expect(reversed.rows?.idsHash).not.toEqual(first?.built.rows?.idsHash);
  });

  it('holds nothing of a batch before it that was never finished', () => {
    const builder = new BatchBuilder(secret);
    builder.read(0, pack(frame({ events: [event()] })));
    builder.read(0, pack(frame({ events: [event({ kind: 'only' })] })));
    const built = builder.finish({ dropped: undefined });
    expect(built.counts).toMatchObject({ accepted: 1, stored: 1 });
  });

  it('whose events are all dropped or unreadable has no insert', () => {
    const builder = new BatchBuilder(secret);
    builder.read(0, pack(frame({ events: [event(), event({ kind: '' })] })));
    const built = builder.finish({ dropped: bitmap(1, [0]) });
    expect(built.rows).toBeUndefined();
    expect(built.counts).toEqual({ accepted: 2, stored: 0, repeats: 0, dropped: 1, unreadable: 1 });
  });
});

it('makes each event a row, a repeat or part of a dead letter, whatever a request holds', () => {
  const builder = new BatchBuilder(secret);
  const anything = fc.oneof(
    fc.json({ maxDepth: 4 }).map((text): unknown => JSON.parse(text)),
    fc.constant(null),
  );
  const ids = Array.from({ length: 4 }, () => randomUUID());
  const fields = fc.record(
    {
      eventId: fc.oneof(fc.constantFrom(...ids), anything),
      sessionId: fc.oneof(fc.constant(ids[0]), anything),
      distinctId: fc.oneof(fc.string(), anything),
      kind: fc.oneof(fc.string(), anything),
      occurTime: fc.oneof(fc.constant('2026-11-20T10:00:00Z'), anything),
      autoProperties: fc.dictionary(
        fc.constantFrom('$url', '$referrer', '$browser', '$latitude', '$ip', '$utmSource'),
        fc.oneof(
          fc.webUrl().map((stringValue) => ({ stringValue })),
          fc.record({ stringValue: fc.string() }),
          anything,
        ),
      ),
      customProperties: anything,
    },
    { requiredKeys: [] },
  );
  const context = fc.record(
    {
      userAgent: fc.string(),
      location: fc.record({ country: fc.string() }),
      botScore: fc.integer(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fields, anything), { maxLength: 8 }),
      context,
      (events, about) => {
        const { sessionless } = builder.read(0, pack(frame({ events, context: about })));
        const sessions = new Uint8Array(16 * sessionless.rows.length);
        const built = builder.finish({ dropped: undefined, sessions });
        const { accepted, stored, repeats, unreadable } = built.counts;
        expect(stored + repeats + unreadable).toBe(accepted);
        expect(accepted).toBe(events.length);
        expect(built.rows === undefined ? 0 : rowsOf(built.rows.arrow).length).toBe(stored);
      },
    ),
    { numRuns: 500 },
  );
});

describe('dead letters', () => {
  it('name the event, request or frame, and carry its reason and its content', () => {
    const builder = new BatchBuilder(secret);
    const bad = event({ kind: '' });
    const good = frame({ events: [event()] });
    const cut = good.slice(0, -1);
    const mixed = encodeFrame([
      { context: encodeContext(contextOf('q')), body: Buffer.from('{'), events: 7 },
      {
        context: encodeContext(contextOf('r')),
        body: Buffer.from(JSON.stringify({ events: [event(), bad] })),
        events: 2,
      },
    ]);
    builder.read(0, pack(good, cut, Buffer.from('junk'), mixed, new Uint8Array(), good));
    const built = builder.finish({ dropped: undefined });
    expect(built.counts).toEqual({
      accepted: 12,
      stored: 2,
      repeats: 1,
      dropped: 0,
      unreadable: 9,
    });
    expect(
      built.deadLetters.map(({ content, ...letter }) => ({
        ...letter,
        content: Buffer.from(content).toString('latin1'),
      })),
    ).toEqual([
      letter(101, undefined, undefined, 'frame_unreadable', undefined, 1, latin1(cut)),
      letter(102, undefined, undefined, 'frame_unreadable', undefined, 0, 'junk'),
      letter(103, 0, undefined, 'request_unreadable', 'q', 7, '{'),
      letter(103, 1, 1, 'kind_missing', 'r', 1, JSON.stringify(bad)),
      letter(104, undefined, undefined, 'frame_unreadable', undefined, 0, ''),
    ]);
  });

  it('take a request whose context cannot be used, and spare the others of its frame', () => {
    const builder = new BatchBuilder(secret);
    const usable = { ...contextOf('p'), credential: 'public' };
    const contexts: [context: unknown, project: string | undefined][] = [
      ...[null, 7, 'text', [], {}].map((context): [unknown, undefined] => [context, undefined]),
      [{ ...usable, projectId: 'two\nlines' }, undefined],
      [{ ...usable, receiveTimeMs: 'now' }, undefined],
      [{ ...usable, receiveTimeMs: 1e15 }, undefined],
      [{ ...usable, credential: 'other' }, 'p'],
      [{ ...usable, userAgent: 5 }, 'p'],
      [{ ...usable, location: null }, 'p'],
      [{ ...usable, location: { country: { code: 'DE' } } }, 'p'],
      [{ ...usable, location: { latitude: 'north' } }, 'p'],
      [{ ...usable, botScore: 0.5 }, 'p'],
      [{ ...usable, verifiedBot: 'yes' }, 'p'],
      [{ ...usable, cookieless: null }, 'p'],
      [{ ...usable, cookieless: { today: 1 } }, 'p'],
    ];
    const body = Buffer.from('{"events":[{},{}]}');
    const good = { context: encodeContext(contextOf('p')), events: 1 };
    const requests = contexts.flatMap(([context]) => [
      { context: JSON.stringify(context), body, events: 2 },
      { ...good, body: Buffer.from(JSON.stringify({ events: [event()] })) },
    ]);
    builder.read(0, pack(encodeFrame(requests)));
    const built = builder.finish({ dropped: undefined });
    const count = contexts.length;
    expect(built.counts).toMatchObject({
      accepted: 3 * count,
      stored: count,
      unreadable: 2 * count,
    });
    expect(
      built.deadLetters.map(({ content, ...letter }) => ({ ...letter, content: latin1(content) })),
    ).toEqual(
      contexts.map(([, project], place) =>
        letter(100, 2 * place, undefined, 'request_unreadable', project, 2, latin1(body)),
      ),
    );
  });

  function contextOf(projectId: string): RequestContext {
    return { projectId, credential: 'private', receiveTimeMs };
  }

  function latin1(bytes: Uint8Array): string {
    return Buffer.from(bytes).toString('latin1');
  }

  function letter(
    streamSeq: number,
    request: number | undefined,
    place: number | undefined,
    reason: string,
    projectId: string | undefined,
    events: number,
    content: string,
  ): unknown {
    const known = projectId === undefined ? undefined : receiveTimeMs;
    const origin = { projectId, receiveTimeMs: known };
    return { streamSeq, request, event: place, reason, ...origin, events, content };
  }
});
