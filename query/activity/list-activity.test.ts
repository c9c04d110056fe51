import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';

const method = 'shared.activity.v1.ActivityService/List';
const startMs = Date.UTC(2026, 9, 10, 12);

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(async () => {
  await service?.stop();
});

function newProject(): string {
  return `prj_${randomUUID()}`;
}

type Request = Parameters<ReturnType<ReadService['activity']>['list']>[0];

function list(projectId: string, request: Request = {}) {
  return service.activity(projectId).list(request);
}

async function ids(projectId: string, request: Request = {}): Promise<string[]> {
  return (await list(projectId, request)).events.map(({ eventId }) => eventId);
}

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => ConnectError.from(error),
  );
}

/** All pages, with what `between` does after each. */
async function walk(
  projectId: string,
  request: Exclude<Request, undefined>,
  between: (page: number) => Promise<void> = async () => {},
): Promise<ActivityEvent[]> {
  const events: ActivityEvent[] = [];
  let pageToken = '';
  for (let page = 0; page < 1_000; page++) {
    const answer = await list(projectId, { ...request, pageToken });
    events.push(...answer.events);
    pageToken = answer.nextPageToken;
    if (pageToken === '') return events;
    await between(page);
  }
  throw new Error('a walk without end');
}

describe('an event comes back as it was stored', () => {
  const projectId = newProject();
  const row = storedRow({
    projectId,
    kind: 'svc-like.Kind_1',
    distinctId: 'Ünï"\'\\`$\u0000 💥',
    occurTimeMs: startMs + 123,
    columns: {
      browser: 'Lynx',
      country: 'DE',
      url: "https://e.org/?a='\\",
      utm_source: '{x:String}',
    },
    strings: {
      '': 'empty key',
      empty: '',
      $city: '',
      ['__proto__']: 'p',
      constructor: 'c',
      'a.b': 'dot',
      'ключ 🔑': '💥\u0000\n\t\\"\'`\u2028',
      date: '2026-1-2',
      null: 'null',
    },
    ints: { max: 2n ** 63n - 1n, min: -(2n ** 63n), big: 9007199254740993n, zero: 0n, $os: 7n },
    doubles: {
      tiny: 5e-324,
      huge: 1.7976931348623157e308,
      whole: 12,
      tenth: 0.1,
      minus: -0,
      e21: 1e21,
    },
    bools: { yes: true, no: false, $mobile: false },
    times: {
      ms: 1_774_749_599_123,
      old: -14_182_940_000,
      first: -62_135_596_800_000,
      last: 253_402_300_799_999,
    },
  });
  beforeAll(() => storeRows(service.clickhouse, [row]));

  it('in binary', async () => {
    const { events, nextPageToken } = await list(projectId);
    expect(nextPageToken).toBe('');
    expect(events).toHaveLength(1);
    const [event] = events;
    expect(event).toMatchObject({
      eventId: row.eventId,
      kind: row.kind,
      distinctId: row.distinctId,
      sessionId: row.sessionId,
      occurTime: timestampFromMs(row.occurTimeMs),
    });
    expect(event?.profileId).toMatch(/^[0-9a-f]{32}$/);
    const auto = Object.entries(event?.autoProperties ?? {}).map(([key, { value }]) => [
      key,
      value.value,
    ]);
    expect(Object.fromEntries(auto)).toEqual({
      $browser: 'Lynx',
      $country: 'DE',
      $url: "https://e.org/?a='\\",
      $utmSource: '{x:String}',
      $city: '',
      $os: 7n,
      $mobile: false,
    });
    const custom = event?.customProperties ?? {};
    for (const [key, value] of Object.entries(row.strings)) {
      if (key.startsWith('$') || key === '__proto__') continue;
      expect(custom[key]?.value).toEqual({ case: 'stringValue', value });
    }
    for (const [key, value] of Object.entries(row.ints)) {
      if (key !== '$os') expect(custom[key]?.value).toEqual({ case: 'intValue', value });
    }
    for (const [key, value] of Object.entries(row.doubles)) {
      expect(custom[key]?.value).toEqual({ case: 'doubleValue', value });
    }
    for (const [key, ms] of Object.entries(row.times)) {
      expect(custom[key]?.value).toEqual({
        case: 'timestampValue',
        value: expect.objectContaining({
          seconds: timestampFromMs(ms).seconds,
          nanos: timestampFromMs(ms).nanos,
        }),
      });
    }
    expect(custom['yes']?.value).toEqual({ case: 'boolValue', value: true });
    expect(custom['no']?.value).toEqual({ case: 'boolValue', value: false });
  });

  it('in JSON, the sign of -0 and the key __proto__ included', async () => {
    const { status, text } = await service.post(projectId, method, {});
    expect(status).toBe(200);
    const [event] = JSON.parse(text).events;
    expect(event.occurTime).toBe('2026-10-10T12:00:00.123Z');
    const custom = new Map(Object.entries(event.customProperties));
    expect(custom.get('__proto__')).toEqual({ stringValue: 'p' });
    expect(custom.get('minus')).toEqual({ doubleValue: -0 });
    expect(custom.get('tiny')).toEqual({ doubleValue: 5e-324 });
    expect(custom.get('max')).toEqual({ intValue: '9223372036854775807' });
    expect(custom.get('last')).toEqual({ timestampValue: '9999-12-31T23:59:59.999Z' });
    expect(custom.get('empty')).toEqual({ stringValue: '' });
    expect(custom.get('no')).toEqual({ boolValue: false });
    expect(custom.size).toBe(
      [row.strings, row.ints, row.doubles, row.bools, row.times]
        .flatMap((map) => Object.keys(map))
        .filter((key) => !key.startsWith('$')).length,
    );
  });
});

describe('which events', () => {
  const projectId = newProject();
  const session = randomUUID();
  const rows = {
    first: storedRow({ projectId, distinctId: 'anna', occurTimeMs: startMs }),
    second: storedRow({ projectId, distinctId: 'anna', kind: 'click', occurTimeMs: startMs + 1 }),
    third: storedRow({
      projectId,
      distinctId: 'bert',
      sessionId: session,
      occurTimeMs: startMs + 2,
    }),
    old: storedRow({
      projectId,
      distinctId: 'bert',
      kind: 'signup',
      occurTimeMs: startMs - 900 * dayMs,
    }),
    ancient: storedRow({ projectId, distinctId: 'anna', occurTimeMs: Date.UTC(2000, 0, 1) }),
    future: storedRow({ projectId, distinctId: 'cleo', occurTimeMs: Date.now() + 2 * dayMs }),
    nobody: storedRow({
      projectId,
      distinctId: 'cookieless-x',
      cookieless: true,
      occurTimeMs: startMs + 3,
    }),
  };
  const named = async (request: Request) => {
    const names = new Map(Object.entries(rows).map(([name, { eventId }]) => [eventId, name]));
    return (await ids(projectId, request)).map((id) => names.get(id) ?? id);
  };
  beforeAll(async () => {
    await storeRows(service.clickhouse, Object.values(rows));
    await storeRows(service.clickhouse, [
      storedRow({ projectId: newProject(), distinctId: 'anna', sessionId: session }),
    ]);
  });

  it('all of the project, newest first, whenever they occurred', async () => {
    const all = ['future', 'nobody', 'third', 'second', 'first', 'old', 'ancient'];
    expect(await named({})).toEqual(all);
  });

  it('of a distinct id', async () => {
    expect(await named({ distinctId: 'anna' })).toEqual(['second', 'first', 'ancient']);
    expect(await named({ distinctId: 'cookieless-x' })).toEqual(['nobody']);
    expect(await named({ distinctId: 'Anna' })).toEqual([]);
  });

  it('of a profile, which no cookieless visitor has', async () => {
    const { events } = await list(projectId);
    const profileOf = (distinctId: string) =>
      events.find((event) => event.distinctId === distinctId)?.profileId ?? '';
    expect(await named({ profileId: profileOf('bert') })).toEqual(['third', 'old']);
    expect(profileOf('cookieless-x')).toBe('');
    expect(await named({ profileId: '0'.repeat(32) })).toEqual([]);
    const [other] = (await list('prj_elsewhere', { profileId: profileOf('bert') })).events;
    expect(other).toBeUndefined();
  });

  it('of a session, in either case', async () => {
    expect(await named({ sessionId: session })).toEqual(['third']);
    expect(await named({ sessionId: session.toUpperCase() })).toEqual(['third']);
  });

  it('of kinds', async () => {
    expect(await named({ kinds: ['click', 'signup', 'no such'] })).toEqual(['second', 'old']);
  });

  it('of a range that excludes its end', async () => {
    const range = (from: number, to: number) => ({
      timeRange: { from: timestampFromMs(from), to: timestampFromMs(to) },
    });
    expect(await named(range(startMs, startMs + 2))).toEqual(['second', 'first']);
    expect(await named(range(startMs, startMs))).toEqual([]);
    expect(await named({ timeRange: { to: timestampFromMs(startMs) } })).toEqual([
      'old',
      'ancient',
    ]);
    expect(await named({ timeRange: { from: timestampFromMs(startMs + 2) } })).toEqual([
      'future',
      'nobody',
      'third',
    ]);
    const nanos = timestampFromMs(startMs);
    nanos.nanos += 1;
    expect(await named({ timeRange: { from: nanos, to: timestampFromMs(startMs + 2) } })).toEqual([
      'second',
    ]);
    expect(await named({ timeRange: { from: timestampFromMs(startMs), to: nanos } })).toEqual([
      'first',
    ]);
    const far = {
      from: { seconds: -62_135_596_800n, nanos: 0 },
      to: { seconds: 253_402_300_799n, nanos: 0 },
    };
    expect(await named({ timeRange: far })).toHaveLength(7);
  });

  it('all conditions together', async () => {
    const request = {
      distinctId: 'anna',
      kinds: ['page_view'],
      timeRange: { from: timestampFromMs(startMs) },
    };
    expect(await named(request)).toEqual(['first']);
  });
});

describe('pages', () => {
  it('hold 100 events unless the request says otherwise, and lead on to the rest', async () => {
    const projectId = newProject();
    const rows = Array.from({ length: 250 }, (_, index) =>
      storedRow({ projectId, occurTimeMs: startMs + index }),
    );
    await storeRows(service.clickhouse, rows);
    const newest = rows.map(({ eventId }) => eventId).reverse();
    const first = await list(projectId);
    expect(first.events.map(({ eventId }) => eventId)).toEqual(newest.slice(0, 100));
    expect(first.nextPageToken).not.toBe('');
    const exact = await list(projectId, { pageSize: 250 });
    expect(exact.events).toHaveLength(250);
    expect(exact.nextPageToken).toBe('');
    const walked = await walk(projectId, { pageSize: 83 });
    expect(walked.map(({ eventId }) => eventId)).toEqual(newest);
  });

  it('tell events of one moment apart by their ids, in the order of the text', async () => {
    const projectId = newProject();
    const rows = Array.from({ length: 40 }, () => storedRow({ projectId, occurTimeMs: startMs }));
    await storeRows(service.clickhouse, rows);
    const walked = await walk(projectId, { pageSize: 7 });
    const sorted = rows
      .map(({ eventId }) => eventId)
      .sort()
      .reverse();
    expect(walked.map(({ eventId }) => eventId)).toEqual(sorted);
  });

  it('give each event once while others arrive', async () => {
    const projectId = newProject();
    const at = (ms: number): StoredRow => storedRow({ projectId, occurTimeMs: startMs + ms });
    const before = Array.from({ length: 60 }, (_, index) => at(-index * dayMs));
    await storeRows(service.clickhouse, before);
    const late: StoredRow[] = [];
    const walked = await walk(projectId, { pageSize: 5 }, async (page) => {
      // One newer than all, one among the pages given, one among the pages to come.
      const toCome = at(-59 * dayMs + 1_000 + page);
      late.push(toCome);
      await storeRows(service.clickhouse, [at(dayMs + page), at(-page * dayMs - 1_000), toCome]);
    });
    const seen = walked.map(({ eventId }) => eventId);
    expect(new Set(seen).size).toBe(seen.length);
    for (const { eventId } of before) expect(seen).toContain(eventId);
    expect(late.some(({ eventId }) => seen.includes(eventId))).toBe(true);
  });

  it('end early where events are large', async () => {
    const projectId = newProject();
    const text = 'x'.repeat(100_000);
    const rows = Array.from({ length: 120 }, (_, index) =>
      storedRow({ projectId, occurTimeMs: startMs + index, strings: { text } }),
    );
    await storeRows(service.clickhouse, rows);
    const first = await list(projectId, { pageSize: 1_000 });
    expect(first.events.length).toBeGreaterThan(10);
    expect(first.events.length).toBeLessThan(120);
    const walked = await walk(projectId, { pageSize: 1_000 });
    expect(walked.map(({ eventId }) => eventId)).toEqual(
      rows.map(({ eventId }) => eventId).reverse(),
    );
  });

  it('go on with another size, not with other conditions or in another project', async () => {
    const projectId = newProject();
    await storeRows(
      service.clickhouse,
      Array.from({ length: 9 }, (_, index) =>
        storedRow({ projectId, occurTimeMs: startMs + index }),
      ),
    );
    const { nextPageToken } = await list(projectId, { pageSize: 4, kinds: ['page_view'] });
    const rest = await list(projectId, {
      pageSize: 7,
      kinds: ['page_view'],
      pageToken: nextPageToken,
    });
    expect(rest.events).toHaveLength(5);
    expect(rest.nextPageToken).toBe('');
    const rule = 'pageToken: must be a nextPageToken answered to the same conditions';
    for (const request of [
      { kinds: ['click'] },
      {},
      { kinds: ['page_view'], distinctId: 'visitor' },
      { kinds: ['page_view'], timeRange: { from: timestampFromMs(0) } },
    ]) {
      const error = await failure(list(projectId, { ...request, pageToken: nextPageToken }));
      expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: rule });
    }
    const foreign = failure(list(newProject(), { kinds: ['page_view'], pageToken: nextPageToken }));
    expect((await foreign).rawMessage).toBe(rule);
  });
});

describe('requests that break a rule', () => {
  const cases: [string, unknown][] = [
    ['pageSize: must be from 1 to 1000', { pageSize: 1_001 }],
    ['pageSize: must be from 1 to 1000', { pageSize: -1 }],
    ['sessionId: must be a UUID', { sessionId: 'session' }],
    ['sessionId: must be a UUID', { sessionId: `${randomUUID()}\n` }],
    ['profileId: must be 32 lower-case hex digits', { profileId: 'ABC' }],
    ['distinctId: takes at most 512 code points', { distinctId: '💥'.repeat(513) }],
    ['kinds: takes at most 100', { kinds: Array(101).fill('a') }],
    ['kinds[1]: must not be empty', { kinds: ['a', ''] }],
    ['kinds[0]: takes at most 200 characters', { kinds: ['a'.repeat(201)] }],
    ['filters: takes at most 50', { filters: Array(51).fill({}) }],
    [
      'filters: texts take at most 65536 bytes together',
      {
        filters: [{ property: 'a', operator: 'FILTER_OPERATOR_EQUALS', value: 'é'.repeat(40_000) }],
      },
    ],
    [
      'timeRange: from must not be after to',
      { timeRange: { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' } },
    ],
    ['timeRange.from: no such date or hour', { timeRange: { from: '2026-02-30T00:00:00Z' } }],
    ['timeRange.to: no such date or hour', { time_range: { to: '2026-02-28T24:00:00Z' } }],
    ['pageToken: must be a nextPageToken answered to the same conditions', { pageToken: 'AAAA' }],
    [
      'filters[1].operator: "FILTER_OPERATOR_LIKE" is not a FilterOperator',
      {
        filters: [
          { property: 'a', operator: 'FILTER_OPERATOR_IS_SET' },
          { property: 'a', operator: 'FILTER_OPERATOR_LIKE' },
        ],
      },
    ],
    [
      'filters[0].source: "AUTO" is not a PropertySource',
      { filters: [{ property: 'a', operator: 'FILTER_OPERATOR_IS_SET', source: 'AUTO' }] },
    ],
    ['filters[0].operator: 99 is not an operator', { filters: [{ property: 'a', operator: 99 }] }],
    [
      'filters[0].source: 99 is not a source',
      { filters: [{ property: 'a', operator: 5, source: 99 }] },
    ],
  ];
  it.each(cases)('%s', async (message, request) => {
    const { status, text } = await service.post('prj_rules', method, request);
    expect({ status, ...JSON.parse(text) }).toEqual({
      status: 400,
      code: 'invalid_argument',
      message,
    });
  });

  it('in binary too', async () => {
    const unknownOperator: number = 99;
    const error = await failure(
      list('prj_rules', { filters: [{ property: 'a', operator: unknownOperator }] }),
    );
    expect(error).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'filters[0].operator: 99 is not an operator',
    });
    const time = await failure(
      list('prj_rules', { timeRange: { from: { seconds: 0n, nanos: -1 } } }),
    );
    expect(time.rawMessage).toBe('timeRange.from: is not a Timestamp');
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '{"kinds":"a"}',
    '{"filters":[1]}',
    '{"kinds":["\\ud800"]}',
  ])('the body %j', async (body) => {
    const { status, text } = await service.post('prj_rules', method, body);
    expect({ status, code: JSON.parse(text).code }).toEqual({
      status: 400,
      code: 'invalid_argument',
    });
  });

  it('unknown fields are ignored', async () => {
    const body = {
      nonsense: { operator: 'X' },
      filters: [{ property: 'a', operator: 5, more: 1 }],
    };
    expect((await service.post('prj_rules', method, body)).status).toBe(200);
  });
});

describe('the largest requests that are taken', () => {
  const projectId = newProject();
  const row = storedRow({ projectId, strings: { a: 'x' } });
  beforeAll(() => storeRows(service.clickhouse, [row]));

  it.each([
    ['backslashes', '\\'],
    ['quotes', "'"],
    ['line breaks', '\n'],
    ['emoji', '💥'],
  ])('texts of %s', async (_, unit) => {
    const text = unit.repeat(Math.floor(65_000 / 50 / Buffer.byteLength(unit)) - 4);
    const name = text.slice(0, 252);
    const filters = Array.from({ length: 50 }, (_, index) => ({
      property: `${index}${name}`,
      operator: index % 2 === 0 ? FilterOperator.NOT_IN : FilterOperator.NOT_CONTAINS,
      ...(index % 2 === 0
        ? { values: [text.slice(name.length)] }
        : { value: text.slice(name.length) }),
    }));
    expect(await ids(projectId, { filters })).toEqual([row.eventId]);
  });

  it('a thousand values', async () => {
    const values = Array.from({ length: 1_000 }, (_, index) => String(index * 1e9));
    const filter = { property: 'a', operator: FilterOperator.NOT_IN, values };
    expect(await ids(projectId, { filters: [filter] })).toEqual([row.eventId]);
  });

  it('a hundred kinds of 200 characters', async () => {
    const kinds = Array.from({ length: 100 }, (_, index) => String(index).padEnd(200, 'k'));
    expect(await ids(projectId, { kinds })).toEqual([]);
  });
});

it('events that the engine cannot hold at once come in shorter pages', async () => {
  const projectId = newProject();
  // 400 events of 4 MB: more than a read may use of the engine's memory, little on disk. A merge of a dozen parts of
  // such rows at the same time would leave the insert without memory.
  await service.clickhouse.command({ query: 'SYSTEM STOP MERGES events' });
  await service.clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, occur_time, string_properties)
      SELECT {projectId:String}, generateUUIDv4(number), 'large', now64(3, 'UTC') - toIntervalSecond(number),
        map('text', repeat(repeat('x', 1000), 4000)) FROM numbers(400)`,
    query_params: { projectId },
    clickhouse_settings: { max_block_size: '2', min_insert_block_size_rows: '2', max_threads: 1 },
  });
  const first = await list(projectId, { pageSize: 1_000 });
  expect(first.events.length).toBeGreaterThan(0);
  expect(first.nextPageToken).not.toBe('');
  await service.clickhouse.command({ query: 'TRUNCATE TABLE events' });
  await service.clickhouse.command({ query: 'SYSTEM START MERGES events' });
});
