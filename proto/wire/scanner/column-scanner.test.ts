import { makeData, Utf8, Vector } from 'apache-arrow';
import { beforeEach, describe, expect, it } from 'vitest';
import { createRequestRows, decodeRequest } from '../../../pipeline/build/rows/reference-rows.ts';
import { autoColumns } from '../../../platform/clickhouse/event-columns.ts';
import * as limits from '../../../platform/limits.ts';
import { Mutants } from '../../../test/harness/requests/scanner-mutants.ts';
import { wideBody } from '../../../test/harness/requests/wide-body.ts';
import { wellKnownKinds } from '../well-known-kinds.ts';
import { mapVariants } from './added-property.ts';
import { ColumnScanner } from './column-scanner.ts';
import type { TextViews } from './column-views.ts';
import { createScanner } from './scanner.ts';

const now = Date.UTC(2026, 10, 20, 12);
const uuid = '0190a5e0-7c3e-7000-8000-00000000abCD';
const options = {
  limits,
  wellKnown: wellKnownKinds,
  properties: [
    ...autoColumns.map(({ property }) => property),
    ...['$latitude', '$longitude', '$mobile', '$bot', '$bot_score', '$verified_bot', '$ip'],
  ],
  textsRead: [0, 3],
  maxRows: 5_000,
  maxBytes: 16 << 20,
};
const scanner = new ColumnScanner(options);
const slotOf = (property: string): number => options.properties.indexOf(property);

beforeEach(() => {
  scanner.clear();
  scanner.setPolicy(0, []);
});

function bodyOf(...events: object[]): Buffer {
  const minimal = {
    eventId: uuid,
    kind: 'a',
    distinctId: 'd',
    sessionId: uuid,
    occurTime: '2026-11-20T11:59:59Z',
  };
  return Buffer.from(JSON.stringify({ events: events.map((event) => ({ ...minimal, ...event })) }));
}

const textAt = ({ ends, bytes }: TextViews, index: number): string =>
  Buffer.from(bytes.subarray(ends[index], ends[index + 1])).toString();

/** The rows as objects. */
function rowsOf(): object[] {
  const { views } = scanner;
  const long = (words: Uint32Array, index: number): bigint =>
    (BigInt(words[index * 2 + 1] ?? 0) << 32n) | BigInt(words[index * 2] ?? 0);
  const hex = (words: Uint32Array, row: number): string =>
    Buffer.from(words.slice(row * 4, row * 4 + 4).buffer).toString('hex');
  const { strings, ints, doubles, bools, times } = views;
  const maps: [{ ends: Int32Array; keys: Int32Array }, (entry: number) => unknown][] = [
    [strings, (entry) => textAt(strings.values, entry)],
    [ints, (entry) => BigInt.asIntN(64, long(ints.values, entry))],
    [doubles, (entry) => doubles.values[entry]],
    [bools, (entry) => bools.values[entry] === 1],
    [times, (entry) => Number(BigInt.asIntN(64, long(times.values, entry)))],
  ];
  return Array.from({ length: scanner.rows }, (_, row) => ({
    eventId: hex(views.eventIds, row),
    sessionId: hex(views.sessionIds, row),
    occurTimeMs: Number(long(views.occurTimes, row)),
    cookieless: views.cookieless[row] === 1,
    kind: scanner.textOf(views.kinds[row] ?? 0),
    distinctId: textAt(views.distinctIds, row),
    present: views.present[row],
    texts: views.texts.map((cells) => scanner.textOf(cells[row] ?? 0)),
    maps: maps.map(([{ ends, keys }, valueAt]) => {
      const entries = new Map<string, unknown>();
      for (let entry = ends[row] ?? 0; entry < (ends[row + 1] ?? 0); entry++) {
        entries.set(scanner.textOf(keys[entry] ?? 0), valueAt(entry));
      }
      return entries;
    }),
  }));
}

describe('columns', () => {
  it('hold the rows of the reference decoder, for mutants', () => {
    const validator = createScanner(limits, wellKnownKinds);
    const mutants = new Mutants(4);
    const into = createRequestRows();
    const wanted: object[] = [];
    const hex = (words: Uint32Array): string => Buffer.from(words.buffer).toString('hex');
    for (let round = 0; round < 3_000 && wanted.length < 3_500; round++) {
      const body = mutants.body();
      const verdict = validator.validate(body, now);
      if (verdict.kind !== 'ok') {
        expect(scanner.append(body, now).kind).toBe('refused');
        continue;
      }
      // The rows of cookieless events depend on ids that are not in the body.
      if (verdict.cookieless > 0) continue;
      const context = { projectId: 'p', credential: 'private', receiveTimeMs: now } as const;
      if (decodeRequest({ context, body, events: 0 }, into).length > 0) continue;
      expect(scanner.append(body, now)).toEqual({ kind: 'appended' });
      for (const row of into.rows.slice(0, into.count)) {
        const maps = mapVariants.map(() => new Map<string, unknown>());
        for (let at = 0; at < row.count; at++) {
          const variant = row.variants[at] ?? 0;
          const value = row.values[at] ?? '';
          maps[variant]?.set(row.keys[at] ?? '', variant === 1 ? BigInt(value) : value);
        }
        wanted.push({
          eventId: hex(row.eventId),
          sessionId: hex(row.sessionId),
          occurTimeMs: row.occurTimeMs,
          cookieless: row.cookieless,
          kind: row.kind,
          distinctId: row.distinctId,
          present: row.present >>> 0,
          texts: [...row.texts],
          maps,
        });
      }
    }
    expect(wanted.length).toBeGreaterThan(500);
    expect(rowsOf()).toEqual(wanted);
  });

  it('keep values exact', () => {
    const doubles = [
      '0.1',
      '-0',
      '1e-7',
      '123456789.123456789',
      '0.30000000000000004',
      '5e-324',
      '9007199254740993',
    ];
    const ints = ['9223372036854775807', '-9223372036854775808', '-0', '0'];
    const body = Buffer.from(
      bodyOf({ customProperties: {} })
        .toString()
        .replace(
          '"customProperties":{}',
          `"customProperties":{${[
            ...doubles.map((value, index) => `"d${index}":{"doubleValue":${value}}`),
            ...ints.map((value, index) => `"i${index}":{"intValue":"${value}"}`),
            '"i4":{"intValue":1e3}',
          ].join(',')}}`,
        ),
    );
    expect(scanner.append(body, now).kind).toBe('appended');
    const [row] = rowsOf();
    expect(row).toMatchObject({
      maps: [
        new Map(),
        new Map([...ints, '1000'].map((value, index) => [`i${index}`, BigInt(value)])),
        new Map(doubles.map((value, index) => [`d${index}`, Number(value)])),
        new Map(),
        new Map(),
      ],
    });
  });

  it('leave out and add properties by the policy', () => {
    const added = [
      { slot: slotOf('$latitude'), onlyIfAbsent: false, variant: 'doubleValue', value: 1.5 },
      { slot: slotOf('$mobile'), onlyIfAbsent: true, variant: 'boolValue', value: true },
    ] as const;
    scanner.setPolicy(
      (1 << slotOf('$ip')) | (1 << slotOf('$country')) | (1 << slotOf('$latitude')),
      added,
    );
    const autoProperties = {
      $ip: { stringValue: '192.0.2.7' },
      $country: { intValue: '1' },
      $latitude: { doubleValue: 9 },
      $browser: { stringValue: 'Firefox' },
    };
    scanner.append(
      bodyOf({ autoProperties }, { autoProperties: { $mobile: { boolValue: false } } }),
      now,
    );
    expect(rowsOf()).toMatchObject([
      {
        maps: [
          new Map(),
          new Map(),
          new Map([['$latitude', 1.5]]),
          new Map([['$mobile', true]]),
          new Map(),
        ],
      },
      {
        maps: [
          new Map(),
          new Map(),
          new Map([['$latitude', 1.5]]),
          new Map([['$mobile', false]]),
          new Map(),
        ],
      },
    ]);
  });

  it('show the cells that enrichment writes', () => {
    scanner.append(
      bodyOf({}, { autoProperties: { $url: { stringValue: 'https://a.example/x' } } }),
      now,
    );
    const url = slotOf('$url');
    expect(scanner.textOf(scanner.views.texts[url]?.[1] ?? 0)).toBe('https://a.example/x');
    for (const property of ['$pathname', '$browser']) {
      const slot = slotOf(property);
      const cell = scanner.cellOf(slot, 'Größe');
      if (cell === undefined) throw new Error('no room');
      expect(scanner.textOf(cell)).toBe('Größe');
      scanner.views.texts[slot]?.fill(cell, 1, 2);
    }
    expect(rowsOf()).toMatchObject([{ distinctId: 'd' }, { distinctId: 'd' }]);
    const written = scanner.textsOf(['$url', '$pathname', '$browser', '$city'].map(slotOf));
    expect(written?.map((texts) => [textAt(texts, 0), textAt(texts, 1)])).toEqual([
      ['', 'https://a.example/x'],
      ['', 'Größe'],
      ['', 'Größe'],
      ['', ''],
    ]);
  });

  it('have Arrow’s layout', () => {
    scanner.append(bodyOf({ distinctId: 'żółw' }, { distinctId: 'b' }), now);
    const { ends, bytes } = scanner.views.distinctIds;
    const data = makeData({ type: new Utf8(), length: 2, valueOffsets: ends, data: bytes });
    expect([...new Vector([data])]).toEqual(['żółw', 'b']);
  });

  it('take all of a body or nothing', () => {
    const small = new ColumnScanner({ ...options, maxRows: 1_001, maxBytes: 1 << 20 });
    const body = bodyOf({ customProperties: { a: { stringValue: 'b' } } });
    const appendTo = (bytes: Buffer): object => ({ ...small.append(bytes, now), rows: small.rows });
    expect(appendTo(body)).toEqual({ kind: 'appended', rows: 1 });
    expect(appendTo(Buffer.from(`${body}x`))).toMatchObject({ rule: 'body_json', rows: 1 });
    expect(appendTo(body)).toEqual({ kind: 'appended', rows: 2 });
    expect(appendTo(body)).toEqual({ kind: 'full', rows: 2 });
    small.dropBody();
    expect(appendTo(body)).toEqual({ kind: 'appended', rows: 2 });
    small.clearRows();
    expect(appendTo(body)).toEqual({ kind: 'appended', rows: 1 });
    small.clear();
    expect(appendTo(Buffer.alloc(2 << 20, ' '))).toEqual({ kind: 'full', rows: 0 });
  });

  it('stay within their regions where a body has several lists of events', () => {
    const small = new ColumnScanner({ ...options, maxRows: 1_000, maxBytes: 8 << 20 });
    const list = bodyOf(...Array.from({ length: 1_000 }, () => ({})))
      .toString()
      .slice(1, -1);
    const hostile = Buffer.from(`{${Array.from({ length: 8 }, () => list).join(',')}}`);
    expect(small.append(hostile, now)).toMatchObject({ rule: 'member_once' });
    expect(small.rows).toBe(0);
    // The bytes behind the last row of the first region are zero, as before.
    const { buffer, byteOffset } = small.views.eventIds;
    const behind = new Uint8Array(buffer, byteOffset + 16_000, 32);
    expect(behind.every((byte) => byte === 0)).toBe(true);
    expect(small.append(bodyOf({}), now)).toEqual({ kind: 'appended' });
  });

  it('keep ten thousand texts apart', () => {
    for (let round = 0; round < 4; round++) {
      const events = Array.from({ length: 1_000 }, (_, index) => ({
        kind: `k${round * 500 + index}`,
        autoProperties: { $url: { stringValue: `${round}/${index}` } },
      }));
      expect(scanner.append(bodyOf(...events), now)).toEqual({ kind: 'appended' });
    }
    const { kinds, texts } = scanner.views;
    const url = texts[slotOf('$url')] ?? new Int32Array();
    const cells = [...kinds.subarray(0, 4_000), ...url.subarray(0, 4_000)];
    expect(new Set(cells).size).toBe(2_500 + 4_000);
    expect(scanner.textOf(kinds[3_999] ?? 0)).toBe('k2499');
    expect(scanner.textOf(url[2_001] ?? 0)).toBe('2/1');
  });

  it('hold a hostile body in a bounded multiple of it', () => {
    const small = new ColumnScanner({ ...options, maxBytes: 4 << 20 });
    const before = small.memoryBytes;
    expect(small.append(wideBody(400_000), now)).toEqual({ kind: 'appended' });
    for (const byte of ['[', '{"x":']) {
      const deep = Buffer.from(byte.repeat((4 << 20) / byte.length));
      expect(small.append(deep, now)).toMatchObject({ rule: 'body_json' });
    }
    expect(small.append(Buffer.alloc((4 << 20) + 1, ' '), now)).toEqual({ kind: 'full' });
    expect(small.append(bodyOf({}), now)).toEqual({ kind: 'appended' });
    expect(small.memoryBytes - before).toBeLessThan(32 << 20);
  });
});
