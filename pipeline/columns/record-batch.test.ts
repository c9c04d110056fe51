// The columns against the live table: every value goes through a real insert and comes back.

import { randomUUID } from 'node:crypto';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClickHouse,
  type DatabaseClient,
  insertArrow,
} from '../../platform/clickhouse/clickhouse.ts';
import {
  autoColumns,
  packedColumns,
  propertyMaps,
} from '../../platform/clickhouse/event-columns.ts';
import { dayMs } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { expectRollupsOfEvents } from '../../test/harness/tables/rollups.ts';
import { parseUuid } from '../build/uuid.ts';
import { EventRow, type PropertyScalar, slotOf, variantIndex } from '../enrich/event-row.ts';
import { EventColumns } from './record-batch.ts';

const engine = useEngine();
let clickhouse: DatabaseClient;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});

afterAll(async () => {
  await clickhouse.close();
});

interface Property {
  key: string;
  variant: keyof typeof variantIndex;
  value: PropertyScalar;
}

function rowOf(fields: {
  eventId?: string;
  sessionId?: string;
  kind?: string;
  distinctId?: string;
  cookieless?: boolean;
  occurTimeMs?: number;
  texts?: Record<number, string>;
  properties?: Property[];
}): EventRow {
  const row = new EventRow();
  parseUuid(fields.eventId ?? randomUUID(), row.eventId);
  parseUuid(fields.sessionId ?? randomUUID(), row.sessionId);
  row.kind = fields.kind ?? 'click';
  row.distinctId = fields.distinctId ?? 'visitor';
  row.cookieless = fields.cookieless ?? false;
  row.occurTimeMs = fields.occurTimeMs ?? Date.UTC(2026, 10, 20);
  for (const [slot, text] of Object.entries(fields.texts ?? {})) row.putText(Number(slot), text);
  for (const { key, variant, value } of fields.properties ?? []) {
    row.add(key, variantIndex[variant], value);
  }
  return row;
}

async function store(project: string, rows: readonly EventRow[]): Promise<void> {
  const columns = new EventColumns();
  const origin = { shard: 7, streamSeq: 2 ** 40 + 1 };
  for (const row of rows) columns.append(row, project, Date.UTC(2026, 10, 20, 1), origin);
  await insertArrow(clickhouse, 'events', columns.toArrowStream(), randomUUID());
}

async function read(select: string, project: string, order = '1'): Promise<unknown[][]> {
  const result = await clickhouse.query({
    query: `SELECT ${select} FROM events WHERE project_id = {project:String} ORDER BY ${order}`,
    query_params: { project },
    format: 'JSONCompactEachRow',
  });
  return result.json();
}

function rowsOf(columns: EventColumns): unknown {
  const rows = tableFromIPC(columns.toArrowStream()).toArray();
  return JSON.parse(
    JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
  );
}

describe('the columns', () => {
  it('equal those of the live table, in order and type', async () => {
    const described = await clickhouse.query({
      query: 'DESCRIBE TABLE events',
      format: 'JSONEachRow',
    });
    const table = await described.json<{ name: string; type: string; default_type: string }>();
    const inserted = table.filter((column) => column.default_type === '');
    expect(new EventColumns().names).toEqual(inserted.map((column) => column.name));
    const typeOf = new Map(inserted.map(({ name, type }) => [name, type]));
    const packed = new Set<string>(packedColumns.flatMap(({ of }) => of));
    for (const { column, lowCardinality } of autoColumns) {
      const type = lowCardinality ? 'LowCardinality(String)' : 'String';
      expect([column, typeOf.get(column)]).toEqual([column, packed.has(column) ? undefined : type]);
    }
    for (const { column, of } of packedColumns) {
      expect([column, typeOf.get(column)]).toEqual([column, 'LowCardinality(String)']);
      const first = autoColumns.findIndex((auto) => auto.column === of[0]);
      const beside = autoColumns.slice(first, first + of.length).map((auto) => auto.column);
      expect(of).toEqual(beside);
    }
    for (const { column, sqlType } of propertyMaps) {
      expect([column, typeOf.get(column)]).toEqual([column, `Map(String, ${sqlType})`]);
    }
  });

  it('return every fixed field', async () => {
    const eventId = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
    const sessionId = 'FFEEDDCC-BBAA-9988-7766-554433221100';
    const occurTimeMs = Date.UTC(2000, 0, 1) + 1;
    await store('fixed', [
      rowOf({
        eventId,
        sessionId,
        kind: 'a.b-c_1',
        distinctId: 'ü😀',
        cookieless: true,
        occurTimeMs,
      }),
    ]);
    const select =
      'toString(event_id), toString(session_id), kind, distinct_id, cookieless, toString(occur_time), ' +
      'toString(receive_time), shard, toString(stream_seq)';
    expect(await read(select, 'fixed')).toEqual([
      [
        eventId,
        sessionId.toLowerCase(),
        'a.b-c_1',
        'ü😀',
        true,
        '2000-01-01 00:00:00.001',
        '2026-11-20 01:00:00.000',
        7,
        String(2 ** 40 + 1),
      ],
    ]);
  });

  it('return every auto property from its own column', async () => {
    const texts = Object.fromEntries(autoColumns.map(({ column }, slot) => [slot, `<${column}>`]));
    await store('auto', [rowOf({ texts }), rowOf({})]);
    const names = autoColumns.map(({ column }) => column);
    expect(await read(names.join(', '), 'auto', 'url DESC')).toEqual([
      names.map((name) => `<${name}>`),
      names.map(() => ''),
    ]);
  });

  it('return packed texts of any characters, and of any of them', async () => {
    const odd = ['ÿ', '\u0000', '😀 日本語', 'a'.repeat(3_000), ' '];
    const sets = packedColumns.flatMap(({ of }) => [
      ...of.map((column, index) => ({ [column]: odd[index] ?? '' })),
      Object.fromEntries(of.map((column, index) => [column, odd[(index + 1) % odd.length] ?? ''])),
    ]);
    const rows = sets.map((set, index) => {
      const texts = Object.entries(set).map(([column, text]) => [
        autoColumns.findIndex((auto) => auto.column === column),
        text,
      ]);
      return rowOf({ distinctId: `${index}`, texts: Object.fromEntries(texts) });
    });
    await store('packed', rows);
    const names = packedColumns.flatMap(({ of }): readonly string[] => of);
    const expected = sets.map((set: Record<string, string>) =>
      names.map((name) => set[name] ?? ''),
    );
    expect(await read(names.join(', '), 'packed', 'toUInt32(distinct_id)')).toEqual(expected);
  });

  it('keep every property type exact at its limits', async () => {
    const emoji = '😀'.repeat(1_024);
    const ints = [0, -1, 2 ** 53 - 1, -(2 ** 53) + 1, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
    const doubles = [0, -0, 5e-324, -1.7976931348623157e308, 0.1, 1e300, 12];
    const times = [
      0,
      -1,
      1,
      -62_135_596_800_000,
      253_402_300_799_999,
      Date.UTC(2026, 1, 3, 4, 5, 6, 789),
    ];
    const texts = ['', ' ', '2026-01-02', '42', 'null', 'true', '\u0000', '\u{10ffff}', emoji];
    const properties: Property[] = [
      ...texts.map((value, n) => ({ key: `s${n}`, variant: 'stringValue' as const, value })),
      ...ints.map((value, n) => ({ key: `i${n}`, variant: 'intValue' as const, value })),
      ...doubles.map((value, n) => ({ key: `d${n}`, variant: 'doubleValue' as const, value })),
      { key: 'b0', variant: 'boolValue', value: false },
      { key: 'b1', variant: 'boolValue', value: true },
      ...times.map((value, n) => ({ key: `t${n}`, variant: 'timestampValue' as const, value })),
    ];
    await store('limits', [rowOf({}), rowOf({ kind: 'limits', properties }), rowOf({})]);
    const select = `string_properties,
      mapApply((k, v) -> (k, toString(v)), int_properties),
      mapApply((k, v) -> (k, toString(v)), double_properties),
      bool_properties,
      mapApply((k, v) -> (k, toString(toUnixTimestamp64Milli(v))), time_properties)`;
    const [none, first, last] = await read(`${select}, kind`, 'limits', 'kind, event_id');
    expect([none, first].map((row) => row?.slice(0, 5))).toEqual(
      Array(2).fill([{}, {}, {}, {}, {}]),
    );
    expect(last).toEqual([
      Object.fromEntries(texts.map((text, n) => [`s${n}`, text])),
      Object.fromEntries(ints.map((int, n) => [`i${n}`, String(int)])),
      {
        d0: '0',
        d1: '-0',
        d2: '5e-324',
        d3: '-1.7976931348623157e308',
        d4: '0.1',
        d5: '1e300',
        d6: '12',
      },
      { b0: false, b1: true },
      Object.fromEntries(times.map((time, n) => [`t${n}`, String(time)])),
      'limits',
    ]);
  });

  it('keep odd keys and ten thousand distinct names', async () => {
    const odd = [
      'a.b',
      'a',
      'a"b',
      "it's",
      '\\',
      '日本語',
      '😀',
      ' ',
      '__proto__',
      'constructor',
      '\n',
    ];
    const many = Array.from({ length: 10_000 }, (_, n) => `name ${n}`);
    const rows = [
      rowOf({ properties: odd.map((key) => ({ key, variant: 'stringValue', value: `<${key}>` })) }),
    ];
    for (let from = 0; from < many.length; from += 250) {
      rows.push(
        rowOf({
          properties: many
            .slice(from, from + 250)
            .map((key, n) => ({ key, variant: 'intValue' as const, value: from + n })),
        }),
      );
    }
    await store('keys', rows);
    const oddRows = await read(
      'arrayZip(mapKeys(string_properties), mapValues(string_properties))',
      'keys',
      'length(string_properties) DESC LIMIT 1',
    );
    expect(oddRows).toEqual([[odd.map((key) => [key, `<${key}>`])]]);
    const counted = await read(
      'toString(uniqExact(arrayJoin(mapKeys(int_properties)) AS key)), toString(sum(int_properties[key]))',
      'keys',
    );
    expect(counted).toEqual([['10000', String((9_999 * 10_000) / 2)]]);
  });

  it('return every text, at each width of a dictionary index', async () => {
    const pathname = autoColumns.findIndex(({ column }) => column === 'pathname');
    for (const texts of [128, 129, 32_768, 32_769]) {
      const project = randomUUID();
      const paths = Array.from({ length: texts }, (_, index) => `/${index}`);
      await store(
        project,
        paths.map((path) => rowOf({ distinctId: path, texts: { [pathname]: path } })),
      );
      const right = 'count(), uniqExact(pathname), countIf(pathname = distinct_id)';
      expect(await read(right, project)).toEqual([[`${texts}`, `${texts}`, `${texts}`]]);
    }
  });

  it('give the tables of visits the first and the last event of each', async () => {
    const sessions = Array.from({ length: 40 }, () => randomUUID());
    for (const batch of [0, 1]) {
      const rows = Array.from({ length: 2_000 }, (_, n) =>
        rowOf({
          sessionId: sessions[(n * 17) % sessions.length] ?? '',
          kind: n % 2 === 0 ? 'page_view' : 'click',
          // On three days, in no order, many at the same moment.
          occurTimeMs: Date.UTC(2026, 10, 20) + (n % 3) * dayMs + ((n * 7_919 + batch) % 97),
          texts: {
            [slotOf('$pathname')]: `/${batch}/${n}`,
            [slotOf('$country')]: n % 3 === 0 ? '' : `C${n % 50}`,
          },
        }),
      );
      await store('visits', rows);
    }
    await expectRollupsOfEvents(clickhouse, { where: "project_id = 'visits'" });
  });

  it('hold a batch of many distinct kinds', async () => {
    await store(
      'many',
      Array.from({ length: 20_000 }, (_, n) => rowOf({ kind: `kind ${n}` })),
    );
    expect(await read('toString(count()), toString(uniqExact(kind))', 'many')).toEqual([
      ['20000', '20000'],
    ]);
  });

  it('hold after keep the same as if only the kept rows had come', () => {
    const rows = Array.from({ length: 3_000 }, (_, n) =>
      rowOf({
        kind: `kind ${n % 7}`,
        distinctId: 'x'.repeat(n % 40),
        cookieless: n % 3 === 0,
        texts: { [slotOf('$url')]: `https://a/${n}`, [slotOf('$browser')]: `browser ${n % 2}` },
        properties: Array.from({ length: n % 5 }, (_, p) => ({
          key: `key ${p}`,
          variant: 'stringValue' as const,
          value: `value ${n}`,
        })).concat([{ key: 'int', variant: 'stringValue', value: 'x' }]),
      }),
    );
    const origin = { shard: 1, streamSeq: 5 };
    const dropped = new EventColumns();
    for (const row of rows) dropped.append(row, 'p', 1, origin);
    const kept = rows.map((_, n) => n).filter((n) => n % 3 !== 1 && n < 2_500);
    dropped.keep(Uint32Array.from(kept));
    const alone = new EventColumns();
    for (const n of kept) alone.append(rows[n] ?? rowOf({}), 'p', 1, origin);
    expect(dropped.rows).toBe(kept.length);
    expect(rowsOf(dropped)).toEqual(rowsOf(alone));
  });

  it('make the same bytes of the same rows, in a new buffer and in a used one', () => {
    const rows = Array.from({ length: 100 }, (_, n) =>
      rowOf({
        kind: `k${n}`,
        properties: [{ key: `p${n}`, variant: 'doubleValue', value: n / 3 }],
      }),
    );
    const columns = new EventColumns();
    const fill = (): void => {
      for (const row of rows) columns.append(row, 'p', 1, { shard: 0, streamSeq: 9 });
    };
    fill();
    const first = columns.toArrowStream();
    expect(first.byteOffset).toBe(0);
    expect(first.buffer.byteLength).toBe(first.length);
    columns.clear();
    columns.append(rowOf({ kind: 'other' }), 'q', 2, { shard: 1, streamSeq: 1 });
    columns.clear();
    fill();
    expect(Buffer.compare(columns.toArrowStream(), first)).toBe(0);
  });
});
