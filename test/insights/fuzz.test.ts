// Hostile questions: texts that look like SQL in every string of every request, and specs with parts that are missing,
// huge, negative or far too many. The service answers or names what is wrong, and no text of a request is part of a
// statement.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { hostileTexts } from '../harness/insights/project/catalogue.ts';
import { createDraw, type Draw } from '../harness/insights/random.ts';
import { useEngine } from '../harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../harness/services/read-service.ts';

const mutants = Number(process.env['MILLRACE_INSIGHT_MUTANTS'] ?? 600);
/** Texts that are tried in each place; the soak tries all. */
const textsInPlace = Number(process.env['MILLRACE_HOSTILE_TEXTS'] ?? 3);
const marker = 'h0st1le';

/** Every statement that the service ran and that has a text of a request. */
const tainted: string[] = [];
let statements = 0;
const watched = (store: RowReader): RowReader => ({
  select(select, onRow) {
    statements++;
    if (select.sql.toLowerCase().includes(marker)) tainted.push(select.sql);
    return store.select(select, onRow);
  },
});

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, reader: watched });
});
afterAll(async () => {
  await service?.stop();
});

type Json = Record<string, unknown>;

const timeRange = { from: '2026-10-01T00:00:00Z', to: '2026-10-03T00:00:00Z' };
const filters = [
  { property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' },
  { property: 'plan', operator: 'FILTER_OPERATOR_CONTAINS', value: 'r' },
  { property: 'plan', operator: 'FILTER_OPERATOR_NOT_IN', values: ['free', 'team'] },
  { property: 'n', operator: 'FILTER_OPERATOR_BETWEEN', values: ['1', '2'] },
  {
    property: 'city',
    operator: 'FILTER_OPERATOR_IS_SET',
    source: 'PROPERTY_SOURCE_PROFILE',
  },
  {
    property: 'a.b',
    operator: 'FILTER_OPERATOR_NOT_EQUALS',
    value: 'c',
    source: 'PROPERTY_SOURCE_PROFILE',
  },
];
const event = { kind: 'page_view', filters: filters.slice(0, 2) };
const allFilters = [{ filters }];
const breakdowns = ['plan', '$browser', 'profile.city'].map((property) => ({ property }));
const summed = { event, aggregation: 'AGGREGATION_TYPE_SUM', aggregationProperty: 'n' };
const users = { event, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' };
const shared = { breakdownLimit: 3, filterGroups: [{ filters: filters.slice(2, 3) }] };

/** One full question of each form. */
const specs: Record<string, Json> = {
  TRENDS: { events: [summed, users], breakdowns, ...shared },
  SEGMENTATION: { events: [users], breakdowns, ...shared },
  FUNNEL: {
    events: [{ event }, { event: { kind: 'click' } }],
    breakdowns,
    ...shared,
    conversionWindow: '3600s',
    includeStepTiming: true,
    funnel: {
      order: 'ORDER_ANY',
      exclusions: [{ event: { kind: 'page_leave' } }],
      holdProperty: 'plan',
      reentry: 'REENTRY_FIRST',
    },
  },
  RETENTION: { events: [{ event }, { event: { kind: 'click' } }], breakdowns, ...shared },
  LIFECYCLE: { events: [{ event }], filterGroups: shared.filterGroups },
  STICKINESS: { events: [{ event: { kind: 'page_view' } }], filterGroups: allFilters },
  USER_FLOW: {
    userFlow: {
      nodeKind: 'NODE_KIND_PROPERTY',
      nodeProperty: 'plan',
      scope: event,
      maxHops: 3,
      maxNodes: 5,
      maxLinks: 10,
    },
    filterGroups: shared.filterGroups,
  },
  TOP_K: {
    topK: {
      dimension: 'DIMENSION_PROPERTY',
      property: 'plan',
      scope: event,
      metric: 'AGGREGATION_TYPE_SUM',
      metricProperty: 'n',
      limit: 5,
    },
    filterGroups: shared.filterGroups,
  },
};
const visits: Json = {
  insightType: 'INSIGHT_TYPE_TRENDS',
  session: { metric: 'SESSION_METRIC_ENTRY', scope: event },
  breakdowns,
  ...shared,
};
const query = 'Query';
const requests: [string, Json][] = [
  ...Object.entries(specs).map(([type, spec]): [string, Json] => [
    query,
    {
      spec: { insightType: `INSIGHT_TYPE_${type}`, ...spec },
      timeRange,
      granularity: 'GRANULARITY_DAY',
      timezone: 'Europe/Berlin',
      asOf: '2026-10-02T00:00:00Z',
    },
  ]),
  [query, { spec: visits, timeRange, timezone: 'Asia/Kolkata' }],
  ['GetFilterSchema', { eventKind: 'page_view', allowedTypes: [1, 2], prefix: 'pl', limit: 10 }],
  [
    'GetPropertyValues',
    { propertyKey: 'plan', source: 2, eventKind: 'page_view', prefix: 'p', limit: 10, timeRange },
  ],
  ['GetPropertyValues', { propertyKey: 'profile.city', prefix: 'p', timeRange }],
];

/** The status; a sentence where the service neither answered nor named what is wrong. */
async function ask(method: string, body: unknown): Promise<number | string> {
  const path = `shared.insights.v1.InsightsService/${method}`;
  const { status, text } = await service.post('hostile', path, body);
  const isAnswer = status === 200 && (text.match(/"time":/g) ?? []).length <= 100_000;
  const isRefusal = status === 400 && JSON.parse(text).code === 'invalid_argument';
  if (isAnswer || isRefusal) return status;
  const request = typeof body === 'string' ? body : JSON.stringify(body);
  return `${method}: ${status} ${text.slice(0, 500)} for ${request.slice(0, 4_000)}`;
}

/** Two requests are under way at once; returns how many were answered. */
async function askAll(asked: Iterable<[string, unknown]>): Promise<number> {
  let answered = 0;
  const failures: string[] = [];
  const rest = asked[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      const outcome = await ask(...next.value);
      if (outcome === 200) answered++;
      if (typeof outcome === 'string') failures.push(outcome);
    }
  };
  await Promise.all([lane(), lane()]);
  expect(failures.slice(0, 5)).toEqual([]);
  return answered;
}

const enumValue = /^(INSIGHT_TYPE|AGGREGATION_TYPE|FILTER_OPERATOR|PROPERTY_SOURCE|GRANULARITY)_/;
const otherEnum = /^(NODE_KIND|DIMENSION|SESSION_METRIC)_|^\d{4}-|^\d+s$/;

/** The paths of all texts of a request that its sender may choose. */
function textPaths(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value === 'string')
    return enumValue.test(value) || otherEnum.test(value) ? [] : [path];
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, inner]) => textPaths(inner, [...path, key]));
}

/** A path of each shape: where lists have several elements of one form, one of them. */
function placesOf(request: Json): (string | number)[][] {
  const places = new Map<string, (string | number)[]>();
  for (const path of textPaths(request)) {
    const shape = path.filter((key) => typeof key === 'string' || path.at(-1) === key).join();
    places.set(shape, path);
  }
  return [...places.values()];
}

const numeric = /BETWEEN/;

/** A copy with another text in all names, and in all values of filters that take any text. */
function withNames(value: unknown, text: string): unknown {
  if (Array.isArray(value)) return value.map((inner) => withNames(inner, text));
  if (typeof value !== 'object' || value === null) return value;
  const isNumeric = numeric.test(String(Reflect.get(value, 'operator')));
  const entries = Object.entries(value).map(([key, inner]) => {
    const isName = ['kind', 'property', 'prefix', 'value'].includes(key) || /Property$/.test(key);
    if (key === 'values' && !isNumeric) return [key, [text, `${text}2`]];
    return [key, isName && typeof inner === 'string' ? text : withNames(inner, text)];
  });
  return Object.fromEntries(entries);
}

/** A copy with another value at the path; undefined leaves the part out. */
function replaced(value: unknown, [key, ...rest]: (string | number)[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value)) {
    return value.map((inner, index) => (index === key ? replaced(inner, rest, by) : inner));
  }
  if (typeof value !== 'object' || value === null) return value;
  const copy: Json = { ...value };
  copy[key] = replaced(copy[key], rest, by);
  return copy;
}

describe('a hostile text', () => {
  const texts = [
    ...hostileTexts.map((text) => `${marker}${text}${marker}`),
    ...[`profile.${marker}'.x`, `$${marker}"`, `${marker}\u0000`, `${marker}\ud800`],
    ...[`${marker}${'x'.repeat(70_000)}`, `{p0:String}${marker}`, `${marker}/../Berlin`],
  ];

  it('is no part of a statement, in any place', {
    timeout: 600_000 + textsInPlace * 60_000,
  }, async () => {
    let turn = 0;
    const asked = requests.flatMap(([method, request]) =>
      placesOf(request).flatMap((path) =>
        Array.from({ length: textsInPlace }, (): [string, unknown] => {
          const text = texts[turn++ % texts.length];
          return [method, replaced(request, path, text)];
        }),
      ),
    );
    expect(asked.length).toBeGreaterThan(60 * textsInPlace);
    expect(await askAll(asked)).toBeGreaterThan(asked.length / 5);
    expect(statements).toBeGreaterThan(asked.length / 5);
    expect(tainted).toEqual([]);
  });

  it('is no part of a statement, in all names and values at once', async () => {
    let turn = 0;
    const asked = requests.flatMap(([method, request]) =>
      Array.from({ length: 2 * textsInPlace }, (): [string, unknown] => {
        const text = texts[turn++ % texts.length] ?? '';
        return [method, withNames(request, text)];
      }),
    );
    expect(await askAll(asked)).toBeGreaterThan(asked.length / 5);
    expect(tainted).toEqual([]);
  });
});

describe('a broken question', () => {
  const odd: unknown[] = [
    ...[undefined, null, '', 0, -1, 1, 2_147_483_647, -2_147_483_648, 1e300, true, {}, []],
    ...['9223372036854775807s', '-1s', '0.0000000001s', '1970-01-01T00:00:00Z'],
    ...['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', 'nonsense', 99],
  ];

  function anyPath(draw: Draw, value: unknown): (string | number)[] {
    if (typeof value !== 'object' || value === null || draw.chance(0.2)) return [];
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    if (keys.length === 0) return [];
    const key = draw.pick<string | number>(keys);
    const inner: unknown = Reflect.get(value, key);
    return [key, ...anyPath(draw, inner)];
  }

  function partAt(value: unknown, path: (string | number)[]): unknown {
    return path.reduce<unknown>(
      (part, key) =>
        typeof part === 'object' && part !== null ? Reflect.get(part, key) : undefined,
      value,
    );
  }

  function mutant(draw: Draw): [string, unknown] {
    const [method, request] = draw.pick(requests);
    let body: unknown = request;
    for (let n = 1 + draw.below(3); n > 0; n--) {
      const path = anyPath(draw, body);
      const part = partAt(body, path);
      const isList = Array.isArray(part) && part.length > 0 && draw.chance(0.5);
      const longer = isList
        ? Array.from({ length: draw.pick([11, 51, 300, 10_000]) }, () => part[0])
        : odd[draw.below(odd.length)];
      if (path.length > 0) body = replaced(body, path, longer);
    }
    return [method, body];
  }

  it(`is answered or refused, ${mutants} times`, { timeout: 600_000 + mutants * 200 }, async () => {
    const draw = createDraw(Number(process.env['MILLRACE_ORACLE_SEED'] ?? 1));
    const asked = Array.from({ length: mutants }, () => mutant(draw));
    expect(await askAll(asked)).toBeGreaterThan(mutants / 20);
    expect(tainted).toEqual([]);
  });

  it('is refused where it is nested deeper than any message', async () => {
    const deep = `${'{"spec":'.repeat(2_000)}{}${'}'.repeat(2_000)}`;
    expect(await ask('Query', deep)).toBe(400);
  });
});
