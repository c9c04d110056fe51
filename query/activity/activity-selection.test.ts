// The rules of ActivityService.List's requests: the error's text for each broken rule, and the largest requests that
// the rules allow, which the engine must take too.

import { randomUUID } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  FilterOperator,
  FilterOperatorSchema,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import { startEngine } from '../../test/harness/servers/engine.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';

const method = 'shared.activity.v1.ActivityService/List';

let engine: Awaited<ReturnType<typeof startEngine>>;
let service: ReadService;
beforeAll(async () => {
  engine = await startEngine();
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(async () => {
  await service?.stop();
  await engine?.stop();
});

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => ConnectError.from(error),
  );
}

describe('requests that break a rule', () => {
  const among = { property: 'a', operator: 'FILTER_OPERATOR_IN', values: ['a'] };
  const without = { property: 'a', operator: 'FILTER_OPERATOR_NOT_CONTAINS' };
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
    ['filters: takes at most 50 filters together', { filters: Array(51).fill({}) }],
    [
      'filters: texts take at most 65536 bytes of JSON together',
      { filters: [{ ...among, values: Array(33).fill('\\'.repeat(1_000)) }] },
    ],
    [
      'filters[1].values[1]: takes at most 1024 code points',
      { filters: [among, { ...among, values: ['', '💥'.repeat(1_025)] }] },
    ],
    [
      'filters[0].value: takes at most 256 code points',
      { filters: [{ ...without, value: '💥'.repeat(257) }] },
    ],
    [
      'filters: take at most 10 searches (CONTAINS, NOT_CONTAINS, a path into a trait) together',
      { filters: Array(11).fill({ ...without, value: 'a' }) },
    ],
    [
      'filters: take at most 1000 values together',
      { filters: Array(2).fill({ ...among, values: Array(501).fill('') }) },
    ],
    [
      'filters[1].values: takes at most 1000',
      { filters: [among, { ...among, values: Array(60_000).fill('') }] },
    ],
    ['kinds: takes at most 1000', { kinds: Array(60_000).fill('') }],
    [
      'pageToken: must be a nextPageToken answered to the same conditions',
      { pageToken: 'A'.repeat(200_000) },
    ],
    [
      'timeRange: from must not be after to',
      { timeRange: { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' } },
    ],
    ['timeRange.from: no such date or hour', { timeRange: { from: '2026-02-30T00:00:00Z' } }],
    ['timeRange.to: no such date or hour', { time_range: { to: '2026-02-28T24:00:00Z' } }],
    ['pageToken: must be a nextPageToken answered to the same conditions', { pageToken: 'AAAA' }],
    [
      `filters[1].operator: "FILTER_OPERATOR_LIKE" is none of ${FilterOperatorSchema.values
        .slice(1)
        .map(({ name }) => name)
        .join(', ')}`,
      {
        filters: [
          { property: 'a', operator: 'FILTER_OPERATOR_IS_SET' },
          { property: 'a', operator: 'FILTER_OPERATOR_LIKE' },
        ],
      },
    ],
    [
      'filters[0].source: "AUTO" is none of PROPERTY_SOURCE_AUTO, PROPERTY_SOURCE_CUSTOM, PROPERTY_SOURCE_PROFILE',
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

  it('the rules hold in binary too', async () => {
    const unknownOperator: number = 99;
    const error = await failure(
      service
        .activity('prj_rules')
        .list({ filters: [{ property: 'a', operator: unknownOperator }] }),
    );
    expect(error).toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'filters[0].operator: 99 is not an operator',
    });
    const time = await failure(
      service.activity('prj_rules').list({ timeRange: { from: { seconds: 0n, nanos: -1 } } }),
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
  const projectId = `prj_${randomUUID()}`;
  const row = storedRow({ projectId, strings: { a: 'x' } });
  beforeAll(() => storeRows(service.clickhouse, [row]));

  type Request = Parameters<ReturnType<ReadService['activity']>['list']>[0];
  const ids = async (request: Request) =>
    (await service.activity(projectId).list(request)).events.map(({ eventId }) => eventId);

  it.each([
    ['backslashes', '\\'],
    ['quotes', "'"],
    ['line breaks', '\n'],
    ['emoji', '💥'],
  ])('texts of %s', async (_, unit) => {
    const size = Buffer.byteLength(JSON.stringify(unit)) - 2;
    const name = unit.repeat(50);
    const part = unit.repeat(250);
    const left = 65_536 - 50 * (50 * size + 10) - 10 * 250 * size;
    const value = unit.repeat(Math.min(1_000, Math.floor(left / 40 / size)));
    const filters = Array.from({ length: 50 }, (_, index) => ({
      property: `${index}${name}`,
      ...(index < 10
        ? { operator: FilterOperator.NOT_CONTAINS, value: part }
        : { operator: FilterOperator.NOT_IN, values: [value] }),
    }));
    const traits = filters.map((filter) => ({ ...filter, source: PropertySource.PROFILE }));
    expect(await ids({ filters })).toEqual([row.eventId]);
    for await (const page of service
      .profiles(projectId)
      .list({ filterGroups: [{ filters: traits }] })) {
      expect(page.profiles).toHaveLength(1);
    }
  });

  it('a thousand values', async () => {
    const values = Array.from({ length: 1_000 }, (_, index) => String(index * 1e9));
    const filter = { property: 'a', operator: FilterOperator.NOT_IN, values };
    expect(await ids({ filters: [filter] })).toEqual([row.eventId]);
  });

  it('a hundred kinds of 200 characters', async () => {
    const kinds = Array.from({ length: 100 }, (_, index) => String(index).padEnd(200, 'k'));
    expect(await ids({ kinds })).toEqual([]);
  });
});
