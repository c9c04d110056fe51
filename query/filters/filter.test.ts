// Filters on a real engine against the operators' meaning in JavaScript: every kind of value, every rule, hostile
// texts.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnOfProperty } from '../../platform/clickhouse/event-columns.ts';
import { FilterOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import { character } from '../../test/harness/requests/request-pieces.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';

const method = 'shared.activity.v1.ActivityService/List';
const startMs = Date.UTC(2026, 9, 10, 12);
const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + 1_000) };

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(async () => {
  await service?.stop();
});

type Filter = {
  property: string;
  operator: FilterOperator;
  value?: string;
  values?: string[];
  source?: PropertySource;
};

/** The distinct ids of the events that meet the filters, sorted. */
async function meeting(projectId: string, ...filters: Filter[]): Promise<string[]> {
  const { events } = await service
    .activity(projectId)
    .list({ filters, timeRange, pageSize: 1_000 });
  return events.map(({ distinctId }) => distinctId).sort();
}

/** Two of `items` are under way at once, as many searches of a project as find a turn without waiting for it. */
async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const lane = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: 2 }, lane));
}

// Every kind of value, by the distinct id of its event.
type Value =
  | { type: 'string'; value: string }
  | { type: 'int'; value: bigint }
  | { type: 'double'; value: number }
  | { type: 'bool'; value: boolean }
  | { type: 'time'; value: number };

const values: Record<string, Value | undefined> = {
  absent: undefined,
  's empty': { type: 'string', value: '' },
  's 42': { type: 'string', value: '42' },
  's 042': { type: 'string', value: '042' },
  's true': { type: 'string', value: 'true' },
  's Shoe': { type: 'string', value: 'Red SHOE Ünï' },
  's time': { type: 'string', value: '2026-01-02T03:04:05Z' },
  'i 42': { type: 'int', value: 42n },
  'i 0': { type: 'int', value: 0n },
  'i -7': { type: 'int', value: -7n },
  'i big': { type: 'int', value: 9007199254740993n },
  'i max': { type: 'int', value: 2n ** 63n - 1n },
  'i min': { type: 'int', value: -(2n ** 63n) },
  'd 42': { type: 'double', value: 42 },
  'd 42.5': { type: 'double', value: 42.5 },
  'd 0': { type: 'double', value: 0 },
  'd -0': { type: 'double', value: -0 },
  'd tiny': { type: 'double', value: 5e-324 },
  'd 1e300': { type: 'double', value: 1e300 },
  'd e21': { type: 'double', value: 1.5e21 },
  'd -1e-7': { type: 'double', value: -1e-7 },
  'b true': { type: 'bool', value: true },
  'b false': { type: 'bool', value: false },
  't whole': { type: 'time', value: Date.UTC(2026, 0, 2, 3, 4, 5) },
  't ms': { type: 'time', value: Date.UTC(2026, 0, 2, 3, 4, 5, 120) },
  't 1970': { type: 'time', value: 0 },
  't first': { type: 'time', value: -62_135_596_800_000 },
};

function rowWith(projectId: string, distinctId: string, key: string, value?: Value): StoredRow {
  const row = storedRow({ projectId, distinctId, occurTimeMs: startMs });
  if (value === undefined) return row;
  const column = columnOfProperty.get(key)?.column;
  switch (value.type) {
    case 'string':
      if (column !== undefined && value.value !== '') row.columns[column] = value.value;
      else row.strings[key] = value.value;
      break;
    case 'int':
      row.ints[key] = value.value;
      break;
    case 'double':
      row.doubles[key] = value.value;
      break;
    case 'bool':
      row.bools[key] = value.value;
      break;
    case 'time':
      row.times[key] = value.value;
      break;
  }
  return row;
}

// The operators' meaning once more, in JavaScript.

function textOf(value: Value): string {
  if (value.type !== 'time') return String(value.value);
  return new Date(value.value).toISOString().replace('.000Z', 'Z');
}

function holds(value: Value | undefined, text: string): boolean {
  return value !== undefined && textOf(value).toLowerCase().includes(text.toLowerCase());
}

/** Below 0, 0 or above 0; undefined if the value is no number. */
function compared(value: Value | undefined, text: string): number | undefined {
  if (value?.type === 'double') return Math.sign(value.value - Number(text)) || 0;
  if (value?.type !== 'int') return undefined;
  if (/^-?\d+$/.test(text))
    return Number(value.value > BigInt(text)) - Number(value.value < BigInt(text));
  return Math.sign(Number(value.value) - Number(text)) || 0;
}

function test(value: Value | undefined, text: string, allowed: number[]): boolean {
  const sign = compared(value, text);
  return sign !== undefined && allowed.includes(sign);
}

const one: Partial<
  Record<keyof typeof FilterOperator, (v: Value | undefined, t: string) => boolean>
> = {
  EQUALS: (value, text) => value !== undefined && textOf(value) === text,
  NOT_EQUALS: (value, text) => value === undefined || textOf(value) !== text,
  CONTAINS: holds,
  NOT_CONTAINS: (value, text) => !holds(value, text),
  LT: (value, text) => test(value, text, [-1]),
  LTE: (value, text) => test(value, text, [-1, 0]),
  GT: (value, text) => test(value, text, [1]),
  GTE: (value, text) => test(value, text, [1, 0]),
};

const texts = [
  '42',
  '042',
  '0',
  '-7',
  'true',
  'FALSE',
  'shoe ünï',
  'e',
  '-',
  '1e+300',
  '5e-324',
].concat(
  ['9007199254740993', '1.5e+21', '-1e-7', '2026-01-02T03:04:05Z', '03:04:05.12', '42.5', ':', 'T'],
  ['9223372036854775807', '-9223372036854775808', '1970-01-01T00:00:00Z', '0001-01-01'],
);
const numbers = [
  '42',
  '42.5',
  '0',
  '-7',
  '-7.5',
  '9007199254740993',
  '9007199254740992',
  '5e-324',
].concat(['9223372036854775807', '-9223372036854775808', '1e300', '-1e300', '4.2e1']);

describe.each(['p', '$context', '$browser', 'a.b\'"`\\ {p:String} 💥'])(
  'property %j',
  (property) => {
    const projectId = `prj_${encodeURIComponent(property)}`;
    const wanted = (test: (value: Value | undefined) => boolean): string[] =>
      Object.keys(values)
        .filter((id) => test(values[id]))
        .sort();
    beforeAll(() => {
      const rows = Object.entries(values).map(([id, value]) =>
        rowWith(projectId, id, property, value),
      );
      return storeRows(service.clickhouse, rows);
    });

    for (const [name, means] of Object.entries(one)) {
      const operator = FilterOperator[name as keyof typeof FilterOperator];
      const isNumeric = ['LT', 'LTE', 'GT', 'GTE'].includes(name);
      it(name, async () => {
        await forEachOf(isNumeric ? numbers : texts, async (value) => {
          const ids = await meeting(projectId, { property, operator, value });
          expect({ value, ids }).toEqual({ value, ids: wanted((stored) => means(stored, value)) });
        });
      });
    }

    it('EQUALS an empty text', async () => {
      const operator = FilterOperator.EQUALS;
      expect(await meeting(projectId, { property, operator, value: '' })).toEqual(['s empty']);
      const not = await meeting(projectId, { property, operator: FilterOperator.NOT_EQUALS });
      expect(not).toEqual(wanted((value) => value === undefined || textOf(value) !== ''));
    });

    it('IS_SET and IS_NOT_SET', async () => {
      const set = await meeting(projectId, { property, operator: FilterOperator.IS_SET });
      expect(set).toEqual(wanted((value) => value !== undefined));
      const unset = await meeting(projectId, { property, operator: FilterOperator.IS_NOT_SET });
      expect(unset).toEqual(['absent']);
    });

    it('IN and NOT_IN', async () => {
      const lists = [['42'], texts, ['', '0', 'true'], ['none of them']];
      await forEachOf(lists, async (list) => {
        const isIn = (value: Value | undefined) =>
          value !== undefined && list.includes(textOf(value));
        const filter = { property, values: list };
        expect(await meeting(projectId, { ...filter, operator: FilterOperator.IN })).toEqual(
          wanted(isIn),
        );
        expect(await meeting(projectId, { ...filter, operator: FilterOperator.NOT_IN })).toEqual(
          wanted((value) => !isIn(value)),
        );
      });
    });

    it('BETWEEN and NOT_BETWEEN', async () => {
      const pairs: [string, string][] = [
        ['0', '42'],
        ['-7', '-7'],
        ['-0.5', '42.5'],
        ['9007199254740993', '9223372036854775807'],
        ['42', '0'],
        ['-1e300', '1e300'],
      ];
      await forEachOf(pairs, async ([low, high]) => {
        const within = (value: Value | undefined) =>
          test(value, low, [0, 1]) && test(value, high, [0, -1]);
        const isNumber = (value: Value) => value.type === 'int' || value.type === 'double';
        const filter = { property, values: [low, high] };
        expect(await meeting(projectId, { ...filter, operator: FilterOperator.BETWEEN })).toEqual(
          wanted(within),
        );
        expect(
          await meeting(projectId, { ...filter, operator: FilterOperator.NOT_BETWEEN }),
        ).toEqual(wanted((value) => value === undefined || (isNumber(value) && !within(value))));
      });
    });

    it('all of several filters must hold', async () => {
      const ids = await meeting(
        projectId,
        { property, operator: FilterOperator.CONTAINS, value: '4' },
        { property, operator: FilterOperator.NOT_EQUALS, value: '42' },
        { property, operator: FilterOperator.GTE, value: '42' },
      );
      expect(ids).toEqual(['d 42.5', 'i big', 'i max']);
    });
  },
);

describe('a source', () => {
  const projectId = 'prj_sources';
  beforeAll(() =>
    storeRows(service.clickhouse, [
      rowWith(projectId, 'auto', '$plan', { type: 'string', value: 'pro' }),
      rowWith(projectId, 'custom', 'plan', { type: 'string', value: 'pro' }),
    ]),
  );
  it('may be named, or follow from the key', async () => {
    const filter = { operator: FilterOperator.EQUALS, value: 'pro' };
    const { AUTO, CUSTOM } = PropertySource;
    expect(await meeting(projectId, { ...filter, property: '$plan' })).toEqual(['auto']);
    expect(await meeting(projectId, { ...filter, property: '$plan', source: AUTO })).toEqual([
      'auto',
    ]);
    expect(await meeting(projectId, { ...filter, property: 'plan' })).toEqual(['custom']);
    expect(await meeting(projectId, { ...filter, property: 'plan', source: CUSTOM })).toEqual([
      'custom',
    ]);
  });
});

describe('filters that break a rule', () => {
  const a = 'a';
  const cases: [string, Record<string, unknown>][] = [
    ['filters[0].property: is required', { operator: 'EQUALS' }],
    [
      'filters[0].property: takes at most 255 code points',
      { property: '💥'.repeat(256), operator: 'EQUALS' },
    ],
    [
      'filters[0].property: an auto property starts with $',
      { property: a, source: 'PROPERTY_SOURCE_AUTO', operator: 'IS_SET' },
    ],
    [
      'filters[0].property: a custom property does not start with $',
      { property: '$a', source: 'PROPERTY_SOURCE_CUSTOM', operator: 'IS_SET' },
    ],
    [
      'filters[0].source: events have AUTO and CUSTOM properties only',
      { property: a, source: 'PROPERTY_SOURCE_PROFILE', operator: 'IS_SET' },
    ],
    ['filters[0].operator: is required', { property: a }],
    [
      'filters[0].values: EQUALS takes value, not values',
      { property: a, operator: 'EQUALS', values: ['x'] },
    ],
    [
      'filters[0].values: LT takes value, not values',
      { property: a, operator: 'LT', values: ['1'] },
    ],
    ['filters[0].value: CONTAINS takes a text', { property: a, operator: 'CONTAINS' }],
    ['filters[0].value: NOT_CONTAINS takes a text', { property: a, operator: 'NOT_CONTAINS' }],
    ['filters[0].value: GT takes a number', { property: a, operator: 'GT', value: 'ten' }],
    ['filters[0].value: LTE takes a number', { property: a, operator: 'LTE' }],
    ['filters[0].value: GTE takes a number', { property: a, operator: 'GTE', value: '1e400' }],
    [
      'filters[0].value: LT takes a number',
      { property: a, operator: 'LT', value: '2026-01-02T03:04:05Z' },
    ],
    ['filters[0].value: IN takes values, not value', { property: a, operator: 'IN', value: 'x' }],
    ['filters[0].values: IN takes at least one', { property: a, operator: 'IN' }],
    [
      'filters[0].values: takes at most 1000',
      { property: a, operator: 'NOT_IN', values: Array(1_001).fill('x') },
    ],
    [
      'filters[0].values: BETWEEN takes exactly two',
      { property: a, operator: 'BETWEEN', values: ['1'] },
    ],
    [
      'filters[0].values: NOT_BETWEEN takes exactly two',
      { property: a, operator: 'NOT_BETWEEN', values: ['1', '2', '3'] },
    ],
    [
      'filters[0].values: BETWEEN takes numbers',
      { property: a, operator: 'BETWEEN', values: ['1', 'x'] },
    ],
    [
      'filters[0].value: BETWEEN takes values, not value',
      { property: a, operator: 'BETWEEN', value: '1' },
    ],
    ['filters[0].value: IS_SET takes none', { property: a, operator: 'IS_SET', value: 'x' }],
    [
      'filters[0].values: IS_NOT_SET takes none',
      { property: a, operator: 'IS_NOT_SET', values: ['x'] },
    ],
  ];
  it.each(cases)('%s', async (message, filter) => {
    const { operator, ...rest } = filter;
    const named =
      operator === undefined ? rest : { ...rest, operator: `FILTER_OPERATOR_${operator}` };
    const { status, text } = await service.post('prj_rules', method, { filters: [named] });
    expect({ status, ...JSON.parse(text) }).toEqual({
      status: 400,
      code: 'invalid_argument',
      message,
    });
  });

  it('the error names the filter at fault', async () => {
    const good = { property: a, operator: 'FILTER_OPERATOR_IS_SET' };
    const bad = { property: a, operator: 'FILTER_OPERATOR_BETWEEN', values: ['1'] };
    const { text } = await service.post('prj_rules', method, { filters: [good, good, bad] });
    expect(JSON.parse(text).message).toBe('filters[2].values: BETWEEN takes exactly two');
  });
});

describe('hostile text is only text', () => {
  const hostile = [
    "'; DROP TABLE events; --",
    "\\'; DROP TABLE events; --",
    "' OR '1'='1",
    '{p0:String}',
    '{maxRows:UInt32}',
    '{p1:Identifier}',
    '\\N',
    'NULL',
    '$$ SELECT $$',
    '/* */ -- #',
    'a\u0000b',
    '\u0000',
    '\\',
    '\\\\',
    '\\x27',
    "''",
    '"',
    '`',
    '\t\n\r\b\f\v\u001a\u001b\u007f',
    '%s %% ?',
    '&param_p0=x#',
    '+ %20 %00',
    'a\ufeff\u2028\u2029',
    '👩‍👩‍👧 e\u0301',
    '[]',
    "['a']",
    ' ',
    '__proto__',
    'constructor',
  ];
  const seed = 20_261_120;
  const drawn = fc.sample(
    fc.string({
      unit: fc.oneof(fc.constantFrom(...'\'"`\\{}[]():;,$\0\n\t%&?#-/*'), character),
      minLength: 1,
      maxLength: 20,
    }),
    { seed, numRuns: 60 },
  );
  const all = [...new Set([...hostile, ...drawn])];
  const projectId = 'prj_hostile';
  const idOf = (index: number) => `id ${index} ${all[index]}`;
  beforeAll(() => {
    const rows = all.map((text, index) =>
      storedRow({
        projectId,
        distinctId: idOf(index),
        occurTimeMs: startMs,
        kind: `kind ${text}`,
        columns: { browser: text },
        strings: JSON.parse(
          `{${JSON.stringify(text)}:${JSON.stringify(`v ${text}`)},"${'v'}":${JSON.stringify(text)}}`,
        ),
      }),
    );
    return storeRows(service.clickhouse, rows);
  });

  it(`as a property's name and value (seed ${seed})`, async () => {
    await forEachOf([...all.entries()], async ([index, text]) => {
      const { EQUALS, IN, CONTAINS } = FilterOperator;
      // The name "v" has a value in every row.
      const property = text === 'v' ? 'other' : text;
      const value = `v ${text}`;
      expect(await meeting(projectId, { property, operator: EQUALS, value })).toEqual([
        idOf(index),
      ]);
      const isIn = { property, operator: IN, values: [value, text] };
      const both = await meeting(projectId, isIn, { property, operator: CONTAINS, value });
      expect(both).toContain(idOf(index));
      expect(await meeting(projectId, { property: 'v', operator: EQUALS, value: text })).toEqual([
        idOf(index),
      ]);
      expect(
        await meeting(projectId, { property: '$browser', operator: IN, values: [text] }),
      ).toEqual([idOf(index)]);
    });
  });

  it('as an id, a kind and a token', async () => {
    await forEachOf([...all.entries()], async ([index, text]) => {
      const activity = service.activity(projectId);
      const byId = await activity.list({ distinctId: idOf(index), timeRange });
      expect(byId.events.map(({ distinctId }) => distinctId)).toEqual([idOf(index)]);
      const byKind = await activity.list({ kinds: [`kind ${text}`, text], timeRange });
      expect(byKind.events.map(({ distinctId }) => distinctId)).toEqual([idOf(index)]);
      for (const bad of [{ pageToken: text }, { sessionId: text }, { profileId: text }]) {
        await expect(activity.list(bad)).rejects.toThrow(/^\[invalid_argument\]/);
      }
      await expect(service.profiles(projectId).get({ id: text })).rejects.toThrow(/^\[not_found\]/);
    });
    expect(await meeting(projectId)).toHaveLength(all.length);
  });
});
