import { makeData, Utf8, Vector } from 'apache-arrow';
import { beforeEach, describe, expect, it } from 'vitest';
import { createRequestRows, decodeRequest } from '../../pipeline/decode.ts';
import { autoColumns } from '../../platform/event-columns.ts';
import * as limits from '../../platform/limits.ts';
import { mapVariants } from './added-property.ts';
import { ColumnScanner, keyDictionary, kindDictionary } from './column-scanner.ts';
import { type ColumnViews, selectRows, type TextColumn } from './column-views.ts';
import { createScanner } from './scanner.ts';
import { Mutants } from './scanner-mutants.ts';
import { wellKnownKinds } from './well-known-kinds.ts';

const now = Date.UTC(2026, 10, 20, 12);
const uuid = '0190a5e0-7c3e-7000-8000-00000000abCD';
const options = {
  limits,
  wellKnown: wellKnownKinds,
  columns: autoColumns,
  otherProperties: ['$latitude', '$longitude', '$mobile', '$bot_score', '$verified_bot', '$ip'],
  maxRows: 5_000,
  maxBytes: 16 << 20,
};
const scanner = new ColumnScanner(options);
const slotOf = (property: string): number =>
  [...autoColumns.map((column) => column.property), ...options.otherProperties].indexOf(property);

beforeEach(() => {
  scanner.clear();
  scanner.setPolicy(0, []);
});

function bodyOf(...events: object[]): Buffer {
  const plain = {
    eventId: uuid,
    kind: 'a',
    distinctId: 'd',
    sessionId: uuid,
    occurTime: '2026-11-20T11:59:59Z',
  };
  return Buffer.from(JSON.stringify({ events: events.map((event) => ({ ...plain, ...event })) }));
}

const textAt = ({ ends, bytes }: TextColumn, index: number): string =>
  Buffer.from(bytes.subarray(ends[index], ends[index + 1])).toString();

/** The rows as objects, from the columns and dictionaries alone. */
function rowsOf(views: ColumnViews): object[] {
  const kinds = scanner.dictionary(kindDictionary);
  const keys = mapVariants.map((_, map) => scanner.dictionary(keyDictionary(map)));
  const texts = autoColumns.map(({ lowCardinality }, slot) =>
    lowCardinality
      ? scanner.dictionary(slot)
      : scanner.plainTexts(views.texts[slot] ?? new Int32Array()),
  );
  const { maps } = views;
  const valueAt = [
    (entry: number) => textAt(maps.strings, entry),
    (entry: number) => maps.ints[entry],
    (entry: number) => maps.doubles[entry],
    (entry: number) => maps.bools[entry] === 1,
    (entry: number) => Number(maps.times[entry]),
  ];
  return Array.from({ length: views.rows }, (_, row) => ({
    eventId: Buffer.from(views.eventIds.subarray(row * 16, row * 16 + 16)).toString('hex'),
    sessionId: Buffer.from(views.sessionIds.subarray(row * 16, row * 16 + 16)).toString('hex'),
    occurTimeMs: Number(views.occurTimes[row]),
    cookieless: views.cookieless[row] === 1,
    kind: textAt(kinds, views.kinds[row] ?? 0),
    distinctId: textAt(views.distinctIds, row),
    present: views.present[row],
    texts: texts.map((column, slot) =>
      textAt(column, autoColumns[slot]?.lowCardinality ? (views.texts[slot]?.[row] ?? 0) : row),
    ),
    maps: maps.ends.map((ends, map) => {
      const entries = new Map<string, unknown>();
      for (let entry = ends[row] ?? 0; entry < (ends[row + 1] ?? 0); entry++) {
        const column = keys[map];
        if (column !== undefined) {
          entries.set(textAt(column, maps.keys[map]?.[entry] ?? 0), valueAt[map]?.(entry));
        }
      }
      return entries;
    }),
  }));
}

describe('columns', () => {
  it('hold what the readable decoder reads, for mutants', () => {
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
      // Their rows depend on identities that are not in the body.
      if (verdict.cookieless > 0) continue;
      const context = { projectId: 'p', credential: 'private', receiveTimeMs: now } as const;
      if (decodeRequest({ context, body, events: 0 }, into).length > 0) continue;
      expect(scanner.append(body, now)).toMatchObject({ kind: 'appended', rows: into.count });
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
    expect(rowsOf(scanner.views())).toEqual(wanted);
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
    const { maps } = scanner.views();
    expect([...maps.doubles]).toEqual(doubles.map(Number));
    expect([...maps.ints]).toEqual([...ints.map(BigInt), 1000n]);
  });

  it('leave out and add what the policy says', () => {
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
    expect(rowsOf(scanner.views())).toMatchObject([
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

  it('take cells that enrichment writes', () => {
    scanner.append(
      bodyOf({}, { autoProperties: { $url: { stringValue: 'https://a.example/x' } } }),
      now,
    );
    const url = slotOf('$url');
    expect(scanner.textOf(url, scanner.views().texts[url]?.[1] ?? 0)).toBe('https://a.example/x');
    for (const property of ['$pathname', '$browser']) {
      const slot = slotOf(property);
      const cell = scanner.cellOf(slot, 'Größe');
      if (cell === undefined) throw new Error('no room');
      expect(scanner.textOf(slot, cell)).toBe('Größe');
      scanner.views().texts[slot]?.fill(cell);
      const column = autoColumns[slot]?.lowCardinality
        ? textAt(scanner.dictionary(slot), cell)
        : textAt(scanner.plainTexts(scanner.views().texts[slot] ?? new Int32Array()), 1);
      expect(column).toBe('Größe');
    }
  });

  it('can be picked by row', () => {
    const events = [1, 2, 3].map((number) => ({
      distinctId: `d${number}`,
      kind: `k${number}`,
      customProperties: { n: { intValue: `${number}` }, s: { stringValue: `s${number}` } },
    }));
    scanner.append(bodyOf(...events), now);
    const all = rowsOf(scanner.views());
    expect(rowsOf(selectRows(scanner.views(), Uint32Array.of(0, 2)))).toEqual([all[0], all[2]]);
    expect(rowsOf(selectRows(scanner.views(), new Uint32Array()))).toEqual([]);
  });

  it('are read by Arrow as they are', () => {
    scanner.append(bodyOf({ distinctId: 'żółw' }, { distinctId: 'b' }), now);
    const { ends, bytes } = scanner.views().distinctIds;
    const data = makeData({ type: new Utf8(), length: 2, valueOffsets: ends, data: bytes });
    expect([...new Vector([data])]).toEqual(['żółw', 'b']);
  });

  it('take a body whole or not at all', () => {
    const small = new ColumnScanner({ ...options, maxRows: 1_001, maxBytes: 1 << 20 });
    const body = bodyOf({ customProperties: { a: { stringValue: 'b' } } });
    expect(small.append(body, now)).toEqual({ kind: 'appended', firstRow: 0, rows: 1 });
    expect(small.append(Buffer.from(`${body}x`), now)).toMatchObject({ rule: 'body_json' });
    expect(small.append(body, now)).toEqual({ kind: 'appended', firstRow: 1, rows: 1 });
    expect(small.append(body, now)).toEqual({ kind: 'full' });
    expect(small.rows).toBe(2);
    small.clear();
    expect(small.append(body, now)).toEqual({ kind: 'appended', firstRow: 0, rows: 1 });
    expect(small.append(Buffer.alloc(2 << 20, ' '), now)).toEqual({ kind: 'full' });
  });

  it('stay within their regions where a body has several lists of events', () => {
    const small = new ColumnScanner({ ...options, maxRows: 1_000, maxBytes: 8 << 20 });
    const list = bodyOf(...Array.from({ length: 1_000 }, () => ({})))
      .toString()
      .slice(1, -1);
    const hostile = Buffer.from(`{${Array.from({ length: 8 }, () => list).join(',')}}`);
    expect(small.append(hostile, now)).toMatchObject({ rule: 'member_once' });
    expect(small.rows).toBe(0);
    // What lies behind the last row of the first region is what lay there: nothing.
    const behind = new Uint8Array(small.views().eventIds.buffer, small.views().eventIds.byteOffset);
    expect(behind.subarray(16_000, 16_032).every((byte) => byte === 0)).toBe(true);
    expect(small.append(bodyOf({}), now)).toMatchObject({ rows: 1 });
  });

  it('have numbers for ten thousand texts, the same in every scanner', () => {
    const other = new ColumnScanner(options);
    for (let round = 0; round < 10; round++) {
      const events = Array.from({ length: 1_000 }, (_, index) => ({
        kind: `k${round * 500 + index}`,
      }));
      if (round < 4) for (const one of [scanner, other]) one.append(bodyOf(...events), now);
    }
    expect(scanner.views().kinds).toEqual(other.views().kinds);
    expect(scanner.dictionary(kindDictionary)).toEqual(other.dictionary(kindDictionary));
    expect(scanner.dictionary(kindDictionary).ends.length).toBe(2_500 + 2);
  });
});
