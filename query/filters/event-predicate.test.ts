// A filter in memory and the same filter as SQL select the same events, whatever their values.

import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  FilterOperator,
  type PropertyFilter,
  PropertyFilterSchema,
} from '../../proto/gen/common/v1/filter_pb.js';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { createBindings } from './bindings.ts';
import { eventPredicate } from './event-predicate.ts';
import { filterCondition } from './filter.ts';

const engine = useEngine();
const projectId = 'prj_predicates';
const occurTimeMs = Date.UTC(2026, 9, 10, 12);
let service: ReadService;
let events: ActivityEvent[];

type Values = Partial<
  Pick<StoredRow, 'columns' | 'strings' | 'ints' | 'doubles' | 'bools' | 'times'>
>;

const texts = [
  '',
  '42',
  '042',
  'true',
  'Red SHOE Ünï',
  'a.b*c',
  'STRASSE ß',
  'ſ K',
  '2026-01-02T03:04:05Z',
];
const ints = [42n, 0n, -7n, 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)];
const doubles = [42, 42.5, 0, -0, 5e-324, 1e300, 1.5e21, -1e-7];
const times = [
  Date.UTC(2026, 0, 2, 3, 4, 5),
  Date.UTC(2026, 0, 2, 3, 4, 5, 120),
  0,
  -62_135_596_800_000,
];

function valuesOf(key: string): Values[] {
  const own = key === '$browser' ? texts.filter((text) => text !== '') : [];
  return [
    {},
    ...own.map((browser) => ({ columns: { browser } })),
    ...texts.filter((text) => !own.includes(text)).map((text) => ({ strings: { [key]: text } })),
    ...ints.map((int) => ({ ints: { [key]: int } })),
    ...doubles.map((double) => ({ doubles: { [key]: double } })),
    ...[true, false].map((bool) => ({ bools: { [key]: bool } })),
    ...times.map((time) => ({ times: { [key]: time } })),
  ];
}

const keys = ['plan', '$context', '$browser', 'constructor'];

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  const rows = keys.flatMap((key) =>
    valuesOf(key).map((values) => storedRow({ projectId, occurTimeMs, ...values })),
  );
  await storeRows(service.clickhouse, rows);
  ({ events } = await service.activity(projectId).list({ pageSize: 1_000 }));
  expect(events).toHaveLength(rows.length);
});
afterAll(() => service?.stop());

const asked = [
  ...texts,
  ...[
    '0',
    '-7',
    'FALSE',
    'shoe ünï',
    'e',
    '-',
    's',
    'k',
    'ss',
    '.',
    '*',
    ':',
    'T',
    '1e+300',
    '5e-324',
  ],
  ...['9007199254740993', '1.5e+21', '-1e-7', '03:04:05.12', '1970-01-01T00:00:00Z', '42.5', '+'],
];
const numbers = [
  '42',
  '42.5',
  '0',
  '-7.5',
  '9007199254740993',
  '9007199254740992',
  '1e300',
  '4.2e1',
];
const { EQUALS, NOT_EQUALS, CONTAINS, NOT_CONTAINS, IS_SET, IS_NOT_SET } = FilterOperator;
const { LT, LTE, GT, GTE, IN, NOT_IN, BETWEEN, NOT_BETWEEN } = FilterOperator;

/** Every operator with values that tell it from the others. */
function filtersOf(property: string): PropertyFilter[] {
  const filter = (operator: FilterOperator, rest: { value?: string; values?: string[] } = {}) =>
    create(PropertyFilterSchema, { property, operator, ...rest });
  const parts = asked.filter((text) => text !== '');
  return [
    ...[EQUALS, NOT_EQUALS].flatMap((operator) =>
      asked.map((value) => filter(operator, { value })),
    ),
    ...[CONTAINS, NOT_CONTAINS].flatMap((of) => parts.map((value) => filter(of, { value }))),
    ...[LT, LTE, GT, GTE].flatMap((of) => numbers.map((value) => filter(of, { value }))),
    ...[IN, NOT_IN].flatMap((of) => [asked, ['', '0']].map((values) => filter(of, { values }))),
    ...[BETWEEN, NOT_BETWEEN].flatMap((of) =>
      [
        ['0', '42'],
        ['-7', '9007199254740993'],
        ['42', '0'],
      ].map((values) => filter(of, { values })),
    ),
    ...[IS_SET, IS_NOT_SET].map((operator) => filter(operator)),
  ];
}

/** The events that each filter's SQL selects, many filters a statement. */
async function selectedBySql(filters: readonly PropertyFilter[]): Promise<string[][]> {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const conditions = filters.map((filter) => filterCondition(filter, 'filters[0]', bindings));
  const result = await service.clickhouse.query({
    query: `SELECT toString(event_id), [${conditions.map((sql) => `toBool(${sql})`).join(', ')}]
      FROM events WHERE project_id = ${project}`,
    query_params: { ...bindings.params },
    format: 'JSONCompactEachRow',
  });
  const rows = await result.json<[string, boolean[]]>();
  return filters.map((_, index) =>
    rows.flatMap(([id, meets]) => (meets[index] ? [id] : [])).sort(),
  );
}

const filtersOfStatement = 25;

describe.each(keys)('the property %s', (property) => {
  it('is judged alike in memory and in the tables', async () => {
    const filters = filtersOf(property);
    for (let at = 0; at < filters.length; at += filtersOfStatement) {
      const some = filters.slice(at, at + filtersOfStatement);
      const stored = await selectedBySql(some);
      for (const [index, filter] of some.entries()) {
        const meets = eventPredicate(filter, 'filters[0]');
        const ids = events.filter(meets).map(({ eventId }) => eventId);
        const shown = `${FilterOperator[filter.operator]} ${filter.value}${filter.values}`;
        expect([shown, ids.sort()]).toEqual([shown, stored[index]]);
      }
    }
  });
});

it('breaks the same rules', () => {
  const filter = create(PropertyFilterSchema, { property: 'plan', operator: LT, value: 'ten' });
  expect(() => eventPredicate(filter, 'filters[3]')).toThrow('filters[3].value: LT takes a number');
});
