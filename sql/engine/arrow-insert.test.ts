import { randomUUID } from 'node:crypto';
import {
  Bool,
  type DataType,
  Field,
  FixedSizeBinary,
  Float64,
  Int64,
  Map_,
  Struct,
  Table,
  TimestampMillisecond,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createClickHouse,
  type DatabaseClient,
  insertArrow,
} from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { expectRollupsOfEvents } from '../../test/harness/tables/rollups.ts';

const engine = useEngine();
let client: DatabaseClient;
beforeAll(async () => {
  client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 8 });
});
afterAll(async () => {
  await client.close();
});

const time = new TimestampMillisecond('UTC');
const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

interface Row {
  eventId: string;
  distinctId: string;
  sessionId: string;
  occurTimeMs: number;
  strings?: Map<string, string>;
  ints?: Map<string, bigint>;
  doubles?: Map<string, number>;
  bools?: Map<string, boolean>;
  times?: Map<string, number>;
}

const uuidBytes = (uuid: string): Uint8Array => Buffer.from(uuid.replaceAll('-', ''), 'hex');

function mapOf(value: DataType): Map_ {
  const entries = [new Field('key', new Utf8(), false), new Field('value', value, false)];
  return new Map_(new Field('entries', new Struct(entries), false));
}

function arrowOf(projectId: string, rows: readonly Row[]): Uint8Array {
  const column = (values: unknown[], type: DataType) => vectorFromArray(values, type);
  const every = <T>(pick: (row: Row) => T): T[] => rows.map(pick);
  const table = new Table({
    project_id: column(
      every(() => projectId),
      new Utf8(),
    ),
    event_id: column(
      every((row) => uuidBytes(row.eventId)),
      new FixedSizeBinary(16),
    ),
    kind: column(
      every(() => 'page_view'),
      new Utf8(),
    ),
    distinct_id: column(
      every((row) => row.distinctId),
      new Utf8(),
    ),
    session_id: column(
      every((row) => uuidBytes(row.sessionId)),
      new FixedSizeBinary(16),
    ),
    occur_time: column(
      every((row) => row.occurTimeMs),
      time,
    ),
    receive_time: column(
      every((row) => row.occurTimeMs),
      time,
    ),
    string_properties: column(
      every((row) => row.strings ?? new Map()),
      mapOf(new Utf8()),
    ),
    int_properties: column(
      every((row) => row.ints ?? new Map()),
      mapOf(new Int64()),
    ),
    double_properties: column(
      every((row) => row.doubles ?? new Map()),
      mapOf(new Float64()),
    ),
    bool_properties: column(
      every((row) => row.bools ?? new Map()),
      mapOf(new Bool()),
    ),
    time_properties: column(
      every((row) => row.times ?? new Map()),
      mapOf(time),
    ),
  });
  return tableToIPC(table, 'stream');
}

function simpleRows(count: number): Row[] {
  const sessionId = randomUUID();
  return Array.from({ length: count }, (_, index) => ({
    eventId: randomUUID(),
    distinctId: `visitor-${index % 7}`,
    sessionId,
    occurTimeMs: Date.UTC(2026, 10, 1) + index,
  }));
}

async function rows<T>(query: string, parameters: Record<string, unknown>): Promise<T[]> {
  const result = await client.query({ query, format: 'JSONEachRow', query_params: parameters });
  return result.json<T>();
}

async function counted(projectId: string): Promise<{ events: number; activity: number }> {
  const [row] = await rows<{ events: string; activity: string }>(
    `SELECT (SELECT count() FROM events WHERE project_id = {p:String}) AS events,
      (SELECT sum(total_events) FROM profile_activity WHERE project_id = {p:String}) AS activity`,
    { p: projectId },
  );
  return { events: Number(row?.events), activity: Number(row?.activity) };
}

describe('an Arrow insert', () => {
  it('is stored once in the table and in its view, however often it is sent', async () => {
    const arrow = arrowOf('once', simpleRows(1_000));
    await insertArrow(client, 'events', arrow, 'once-1');
    await insertArrow(client, 'events', arrow, 'once-1');
    expect(await counted('once')).toEqual({ events: 1_000, activity: 1_000 });
    await insertArrow(client, 'events', arrowOf('once', simpleRows(10)), 'once-2');
    expect(await counted('once')).toEqual({ events: 1_010, activity: 1_010 });
  });

  it('is stored once where it is sent eight times at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const arrow = arrowOf(`race-${round}`, simpleRows(5_000));
      const send = (): Promise<void> => insertArrow(client, 'events', arrow, `race-${round}`);
      await Promise.all(Array.from({ length: 8 }, send));
      expect(await counted(`race-${round}`)).toEqual({ events: 5_000, activity: 5_000 });
    }
  });

  it('is recognised by its token after a restart', async () => {
    const arrow = arrowOf('restarted', simpleRows(100));
    await insertArrow(client, 'events', arrow, 'restarted');
    await engine.restart();
    await insertArrow(client, 'events', arrow, 'restarted');
    expect(await counted('restarted')).toEqual({ events: 100, activity: 100 });
    await expectRollupsOfEvents(client, { where: "project_id = 'restarted'" });
  });

  it('keeps every type exact', async () => {
    const odd = ['', "it's", 'a.b', 'a"b', 'back\\slash', '{x:String}', 'tab\t\n\0', 'é漢字🎉'];
    const row: Required<Row> = {
      eventId: '00112233-4455-6677-8899-aabbccddeeff',
      distinctId: "o'brien\\\t\0🎉",
      sessionId: 'ffeeddcc-bbaa-9988-7766-554433221100',
      occurTimeMs: Date.UTC(2026, 10, 1, 2, 3, 4, 567),
      strings: new Map(odd.map((key, index) => [key, odd.at(-index) ?? ''])),
      ints: new Map([
        ['max', maxInt64],
        ['min', minInt64],
        ['past double', 2n ** 53n + 1n],
      ]),
      doubles: new Map([
        ['tiny', 5e-324],
        ['huge', Number.MAX_VALUE],
        ['minus zero', -0],
        ['tenth', 0.1],
      ]),
      bools: new Map([
        ['yes', true],
        ['no', false],
      ]),
      times: new Map([['when', Date.UTC(2262, 0, 1, 0, 0, 0, 1)]]),
    };
    await insertArrow(client, 'events', arrowOf('exact', [row]), 'exact');
    const [stored] = await rows<Record<string, unknown>>(
      `SELECT event_id, distinct_id, session_id, occur_time, string_properties, int_properties,
        mapApply((k, v) -> (k, reinterpretAsUInt64(v)), double_properties) AS double_bits,
        bool_properties, time_properties
      FROM events WHERE project_id = {p:String}`,
      { p: 'exact' },
    );
    const bits = (value: number): string =>
      Buffer.from(Float64Array.of(value).buffer).readBigUInt64LE().toString();
    expect(stored).toEqual({
      event_id: row.eventId,
      distinct_id: row.distinctId,
      session_id: row.sessionId,
      occur_time: '2026-11-01 02:03:04.567',
      string_properties: Object.fromEntries(row.strings),
      int_properties: Object.fromEntries([...row.ints].map(([key, n]) => [key, String(n)])),
      double_bits: Object.fromEntries([...row.doubles].map(([key, n]) => [key, bits(n)])),
      bool_properties: { yes: true, no: false },
      time_properties: { when: '2262-01-01 00:00:00.001' },
    });
  });

  it('may name its columns', async () => {
    const arrow = tableToIPC(
      new Table({
        project_id: vectorFromArray(['named'], new Utf8()),
        kind: vectorFromArray(['k'], new Utf8()),
      }),
      'stream',
    );
    await insertArrow(client, 'events', arrow, 'named', ['project_id', 'kind']);
    expect(await counted('named')).toEqual({ events: 1, activity: 1 });
    const hostile = insertArrow(client, 'events', arrow, 'x', ['kind) VALUES (1); --']);
    await expect(hostile).rejects.toThrow('no name');
  });

  it('that is cut short or broken changes nothing', async () => {
    const arrow = arrowOf('broken', simpleRows(1_000));
    const cut = insertArrow(client, 'events', arrow.subarray(0, arrow.length >> 1), 'cut');
    await expect(cut).rejects.toThrow();
    const noise = insertArrow(client, 'events', Buffer.from('no arrow at all'), 'noise');
    await expect(noise).rejects.toThrow();
    expect(await counted('broken')).toEqual({ events: 0, activity: 0 });
  });
});
