// Fast path and reference path of a body, compared: both must make the same batch, row by row and column by column.
// Takes some 10 seconds.

import { deepStrictEqual } from 'node:assert/strict';
import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { sizes } from '../../../demo/visits/sized-events.ts';
import { encodeContext, type RequestContext } from '../../../proto/wire/frame.ts';
import { encodeFrame } from '../../../proto/wire/frame-writer.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import { Mutants } from '../../../test/harness/requests/scanner-mutants.ts';
import { BatchBuilder } from '../build-batch.ts';
import type { BatchIds, BuiltBatch, Messages, Verdict } from '../thread-messages.ts';

const secret = Buffer.alloc(32, 1);
const nowMs = Date.UTC(2026, 10, 20, 12);
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1';
const berlin = {
  country: 'DE',
  region: 'BE',
  city: 'Berlin',
  continent: 'EU',
  latitude: 52.5,
  longitude: -0.25,
  timezone: 'Europe/Berlin',
};

/** Contexts of requests, with every fact that enrichment reads. */
const contexts: Omit<RequestContext, 'projectId' | 'receiveTimeMs'>[] = [
  { credential: 'public', userAgent: chrome },
  { credential: 'private', userAgent: chrome, location: berlin, botScore: 1 },
  { credential: 'public', userAgent: iphone, location: berlin, verifiedBot: true, botScore: 99 },
  { credential: 'public', location: { country: 'FR', latitude: 1 }, verifiedBot: false },
  { credential: 'public', cookieless: { today: 'cookieless-t', yesterday: 'cookieless-y' } },
  { credential: 'private', cookieless: { yesterday: 'cookieless-y' }, userAgent: 'curl/8' },
  { credential: 'public', userAgent: '', location: { timezone: 'Asia/Tokyo', latitude: 0.1 } },
];

interface Sent {
  body: Uint8Array;
  context?: object;
}

/** Messages of `perFrame` requests each. A body without a context of its own takes the next of `contexts`. */
function messagesOf(sent: readonly Sent[], perFrame: number): Messages {
  const frames: Uint8Array[] = [];
  for (let from = 0; from < sent.length; from += perFrame) {
    const requests = sent.slice(from, from + perFrame).map(({ body, context }, index) => ({
      context: encodeContext({
        projectId: `p${(from + index) % 3}`,
        receiveTimeMs: nowMs + ((from + index) % 5),
        ...(contexts[(from + index) % contexts.length] ?? { credential: 'public' }),
        ...context,
      }),
      body,
      events: 1,
    }));
    frames.push(encodeFrame(requests));
  }
  return {
    seqs: Float64Array.from(frames, (_, index) => 7 + index * 3),
    lengths: Uint32Array.from(frames, ({ length }) => length),
    bytes: new Uint8Array(Buffer.concat(frames)),
  };
}

/** Drops every seventh row, and gives a session to each row without one. */
function verdictOn({ rows, sessionless }: BatchIds): Verdict {
  const dropped = new Uint8Array((rows + 7) >>> 3);
  for (let row = 3; row < rows; row += 7) {
    dropped[row >>> 3] = (dropped[row >>> 3] ?? 0) | (1 << (row & 7));
  }
  const sessions = new Uint8Array(16 * sessionless.rows.length);
  for (let at = 0; at < sessions.length; at++) sessions[at] = (at * 31) % 251;
  return { dropped, sessions };
}

function build(builder: BatchBuilder, messages: Messages): { ids: BatchIds; built: BuiltBatch } {
  const ids = builder.read(5, messages);
  return { ids, built: builder.finish(verdictOn(ids)) };
}

/** How many of the messages' bodies take the reference path. */
function referenceBodies(messages: Messages): number {
  const builder = new BatchBuilder(secret);
  builder.read(5, messages);
  return builder.referenceBodies;
}

/** A value with its type, maps without their order: JavaScript sorts the names that look like indices. */
function readable(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value !== 'object' || value === null) return value;
  return [...(value as Iterable<[string, unknown]>)]
    .map(([key, held]) => [key, readable(held)])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
}

function rowsOf({ rows }: BuiltBatch): Record<string, unknown>[] {
  if (rows === undefined) return [];
  const table = tableFromIPC(rows.arrow);
  const columns = table.schema.fields.map(({ name }) => ({ name, column: table.getChild(name) }));
  return Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(columns.map(({ name, column }) => [name, readable(column?.get(row))])),
  );
}

/** Everything of a batch except its rows. */
function around({ ids, built: { rows, ...rest } }: ReturnType<typeof build>): object {
  return { ids, rest, rows: rows && { ...rows, arrow: rows.arrow.length } };
}

/** Builds the messages on both paths, compares everything, and returns the rows. */
function expectSame(messages: Messages): Record<string, unknown>[] {
  const scanned = build(new BatchBuilder(secret), messages);
  const read = build(new BatchBuilder(secret, { fastPath: false }), messages);
  // Many values: vitest's own comparison takes a hundred times as long.
  deepStrictEqual(around(scanned), around(read));
  const rows = rowsOf(scanned.built);
  deepStrictEqual(rows, rowsOf(read.built));
  return rows;
}

function expectSameBytes(built: BuiltBatch, other: BuiltBatch): void {
  deepStrictEqual(built, other);
}

const event = {
  eventId: '0190a5e0-7c3e-7000-8000-000000000000',
  kind: 'page_view_x',
  distinctId: 'd',
  sessionId: '0190a5e0-7c3e-7000-8000-00000000abcd',
  occurTime: '2026-11-20T11:59:59.123Z',
};
let made = 0;

/** A body with an event for each of `events`, which override its members; each has its own id. */
function bodyOf(...events: object[]): Buffer {
  const list = events.map((fields) => {
    const eventId = `0190a5e0-7c3e-7000-8000-${(++made).toString(16).padStart(12, '0')}`;
    return { ...event, eventId, ...fields };
  });
  return Buffer.from(JSON.stringify({ events: list }));
}

const text = (stringValue: string): object => ({ stringValue });

describe('a batch built on the fast path equals the batch built on the reference path', () => {
  it.each(sizes)('of generated bodies, %s', (size) => {
    const bodies = [1, 10, 100].flatMap((batch) =>
      makeBodies({ size, batch, count: 300 / batch, seed: 11 + batch, nowMs }),
    );
    const sent = bodies.map(({ bytes }) => ({ body: bytes }));
    const messages = messagesOf(sent, 9);
    expect(expectSame(messages).length).toBeGreaterThan(700);
    expect(referenceBodies(messages)).toBe(0);
  });

  it('of senders whose user agents look like the facts of another', () => {
    const location = { country: 'DE' };
    const noFacts = { userAgent: undefined, location: undefined, cookieless: undefined };
    const others = { botScore: undefined, verifiedBot: undefined, credential: 'public' };
    const facts = [
      { userAgent: chrome, location },
      { userAgent: `${JSON.stringify([location, undefined, undefined])}${chrome}` },
      { userAgent: 'undefined' },
      // The verdict drops the row in the middle.
      {},
      {},
      { userAgent: 'curl/8' },
      { userAgent: '-' },
    ];
    const sent = facts.map((context) => ({
      body: bodyOf({ autoProperties: { $browser: text('sent') } }),
      context: { ...noFacts, ...others, ...context },
    }));
    for (const order of [sent, sent.toReversed()]) {
      const rows = expectSame(messagesOf(order, facts.length));
      expect(rows.filter((row) => String(row['place']).startsWith('DE'))).toHaveLength(1);
      expect(rows).toHaveLength(facts.length - 1);
    }
  });

  it('of mutants, whole and broken', () => {
    const mutants = new Mutants(9);
    let id = 0;
    const fresh = (body: Buffer): Buffer =>
      Buffer.from(
        body
          .toString('latin1')
          .replace(/-8000-00000000abCD"/g, () => `-8000-${(++id).toString(16).padStart(12, '0')}"`),
        'latin1',
      );
    const sent = Array.from({ length: 3_000 }, (_, index) => {
      const body = fresh(mutants.body());
      return { body: index % 10 === 0 ? mutants.mutate(body) : body };
    });
    const messages = messagesOf(sent, 40);
    expect(referenceBodies(messages)).toBeLessThan(sent.length);
    expect(expectSame(messages).length).toBeGreaterThan(800);
  });

  it('of properties that only the server may set, or that enrichment reads', () => {
    const url = text('https://www.shop.example/a?utm_source=News&utm_medium=email&gclid=1#x');
    const autos: object[] = [
      {},
      { $ip: text('203.0.113.7'), $bot_score: { intValue: '3' }, $verified_bot: text('no') },
      { $country: text('US'), $latitude: { doubleValue: 3 }, $timezone: text('Asia/Tokyo') },
      { $country: { intValue: '1' }, $city: text(''), $channel: text('x'), $mobile: text('no') },
      { $browser: text('Own'), $osVersion: text('1'), $device: text(''), $mobile: text('') },
      { $url: url },
      { $url: url, $referrer: text('https://www.google.com/search?q=x') },
      { $url: url, $pathname: text('/own'), $hostname: text(''), $utmSource: { intValue: '5' } },
      { $url: text('/path?utm_term=ż+%C5%BC&utm_content=%zz'), $referrerDomain: text('evil') },
      { $url: text(''), $referrer: text('https://t.co/x'), $utmCampaign: text('c') },
      { $referrer: text('android-app://com.openai.chatgpt/'), $bot: { boolValue: false } },
      { $url: text('/?utm%5Fsource=chatgpt.com'), $aiAssistant: text('mine'), $bot: text('no') },
      { $utmSource: text('google'), $utmMedium: text('cpc'), $title: text('"q"\n\u0000😀') },
      { $url: { boolValue: true }, $referrer: { timestampValue: '2026-01-02T03:04:05.678Z' } },
    ];
    const custom = { a: text('b'), 10: { intValue: '1' }, 9: { intValue: '-9223372036854775808' } };
    const sent = contexts.flatMap((context) =>
      autos.map((autoProperties) => ({
        body: bodyOf({ autoProperties }, { autoProperties, customProperties: custom }),
        context,
      })),
    );
    const messages = messagesOf(sent, 5);
    expect(referenceBodies(messages)).toBe(0);
    const rows = expectSame(messages);
    expect(rows.length).toBe(Math.floor((sent.length * 2 * 6) / 7));
  });

  it('of events without an identity, around midnight, in several months, sent twice, and without a session', () => {
    const times = [
      '2026-11-20T00:10:00Z',
      '2026-11-19T23:50:00Z',
      '2026-11-18T10:00:00Z',
      '2026-11-20T11:00:00.5Z',
      '2026-10-31T23:59:59.999Z',
      '2000-01-01T00:00:00Z',
    ];
    const bare = { distinctId: undefined, sessionId: undefined, cookieless: true };
    const sent = Array.from({ length: 60 }, (_, n) => {
      const at = (index: number): object => ({ occurTime: times[(n + index) % times.length] });
      const twice = n % 4 === 0 ? { eventId: event.eventId } : {};
      const short = n % 7 === 0 ? { sessionId: undefined } : {};
      return {
        body: bodyOf(
          { ...at(0), ...bare },
          { ...at(1), ...twice },
          { ...at(2), ...bare },
          { ...at(3), ...short },
        ),
      };
    });
    const messages = messagesOf(sent, 4);
    const short = Math.ceil(sent.length / 7);
    expect(referenceBodies(messages)).toBe(short);
    const rows = expectSame(messages);
    const months = rows.map((row) => new Date(Number(row['occur_time'])).toISOString().slice(0, 7));
    expect(new Set(months)).toEqual(new Set(['2000-01', '2026-10', '2026-11']));
    expect(new Set(rows.map((row) => row['session_derived']))).toEqual(new Set([true, false]));
    expect(rows.some((row) => row['distinct_id'] === 'cookieless-y')).toBe(true);
  });

  it('of senders whose clocks are off: their times are stored shifted, days of visitors and months with them', () => {
    const dayMs = 86_400_000;
    const times = ['2026-11-20T11:00:00.5Z', '2026-11-19T23:50:00Z', '2026-10-31T23:59:59.999Z'];
    const shifts = [undefined, -dayMs, 61_000, -5 * dayMs, dayMs + 1];
    const bare = { distinctId: undefined, sessionId: undefined, cookieless: true };
    const cookieless = { today: 'cookieless-t', yesterday: 'cookieless-y' };
    const moment = { timestampValue: '2026-11-20T11:00:00Z' };
    const sent = shifts.flatMap((timeShiftMs) =>
      times.map((occurTime) => ({
        body: bodyOf({ occurTime, customProperties: { moment } }, { ...bare, occurTime }),
        context: { timeShiftMs, credential: 'public', cookieless },
      })),
    );
    const messages = messagesOf(sent, 4);
    expect(referenceBodies(messages)).toBe(0);
    const rows = expectSame(messages);
    const stored = rows.filter((row) => row['cookieless'] === false);
    const wanted = new Set(
      shifts.flatMap((shift = 0) => times.map((time) => Date.parse(time) + shift)),
    );
    const storedMs = new Set(stored.map((row) => Number(row['occur_time'])));
    // The verdict drops a few.
    expect(storedMs.size).toBeGreaterThan(wanted.size - 4);
    expect([...storedMs].filter((ms) => !wanted.has(ms))).toEqual([]);
    const moments = rows.map((row) => JSON.stringify(row['time_properties']));
    expect(new Set(moments).size).toBe(2);
  });

  it('of bodies that only the reference path takes, between others', () => {
    const odd = [
      Buffer.from('{'),
      Buffer.from('{"events":null}'),
      bodyOf({ kind: '' }),
      bodyOf({ kind: 'Not A Name' }),
      bodyOf({ customProperties: { a: { intValue: '1.5e1' } } }),
      bodyOf({}, { eventId: 'x' }, {}),
      Buffer.from(bodyOf({ distinctId: 'ÿ' }).toString(), 'latin1'),
      bodyOf({ customProperties: { long: text('x'.repeat(5_000_000)) } }),
      Buffer.from(`${' '.repeat(5_000_000)}${bodyOf({})}`),
    ];
    const sent = odd.flatMap((body, index) => [
      { body: bodyOf({ kind: `before_${index}` }, {}) },
      { body },
    ]);
    const messages = messagesOf(sent, 2);
    // All but the null, which both paths take.
    expect(referenceBodies(messages)).toBe(odd.length - 1);
    expect(expectSame(messages).length).toBeGreaterThan(10);
  });

  it('of more rows and texts than the scanner has room for at once', () => {
    const many = (count: number, fields: (n: number) => object): Buffer =>
      bodyOf(...Array.from({ length: count }, (_, n) => fields(n)));
    const sent = Array.from({ length: 10 }, (_, round) => ({
      body: many(1_000, (n) => ({
        kind: `kind_${n % 500}`,
        autoProperties: { $url: text(`https://a.example/${round}/${n}?q=${'x'.repeat(n % 900)}`) },
        customProperties: {
          [`name ${round} ${n}`]: text(`value ${n}`),
          shared: { doubleValue: n / 3 },
        },
      })),
    }));
    const messages = messagesOf(sent, 3);
    expect(referenceBodies(messages)).toBe(0);
    expect(expectSame(messages).length).toBeGreaterThan(8_000);
  });
});

describe('memory', () => {
  it('grows with the longest texts and not with their number, batch after batch', () => {
    const $url = text(`https://a.example/${'😀'.repeat(1_000)}`);
    const events = Array.from({ length: 500 }, () => ({ autoProperties: { $url } }));
    const messages = messagesOf(
      Array.from({ length: 18 }, () => ({ body: bodyOf(...events) })),
      1,
    );
    expect(referenceBodies(messages)).toBe(0);
    const read = build(new BatchBuilder(secret, { fastPath: false }), messages).built;
    const builder = new BatchBuilder(secret);
    for (let round = 0; round < 3; round++) {
      expectSameBytes(build(builder, messages).built, read);
    }
  });
});

describe('a batch that is built again', () => {
  it('has the same bytes, whatever was built before', () => {
    const bodies = makeBodies({ size: 'medium', batch: 20, count: 60, seed: 5, nowMs });
    const mutants = new Mutants(3);
    const sent = bodies.flatMap(({ bytes }) => [{ body: bytes }, { body: mutants.body() }]);
    const messages = messagesOf(sent, 6);
    const fresh = build(new BatchBuilder(secret), messages).built;
    const used = new BatchBuilder(Buffer.alloc(32, 2));
    const others = Array.from({ length: 2_000 }, () => ({ body: mutants.body() }));
    build(used, messagesOf(others, 50));
    used.read(5, messagesOf(sent.toReversed(), 3));
    expectSameBytes(build(used, messages).built, fresh);
    expectSameBytes(build(used, messages).built, fresh);
  });

  it('has the same bytes on the reference path too, where no name looks like an index', () => {
    const bodies = makeBodies({ size: 'medium', batch: 50, count: 40, seed: 6, nowMs });
    const messages = messagesOf(
      bodies.map(({ bytes }) => ({ body: bytes })),
      6,
    );
    const read = build(new BatchBuilder(secret, { fastPath: false }), messages).built;
    expectSameBytes(build(new BatchBuilder(secret), messages).built, read);
  });
});
