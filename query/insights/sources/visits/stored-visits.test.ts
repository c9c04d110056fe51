// The tables visits and visit_entries answer as the rows of events do: the same questions are asked again with an as_of
// in the far future, for which only rows of events can tell.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  Granularity,
  InsightType,
  SessionMetric,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  type Answered,
  AskedProject,
  type AskedRange,
  type AskedSpec,
} from '../../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import type { StoredRow } from '../../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
let service: ReadService;
let project: AskedProject;

/** Berlin's clocks go back on the 25th. */
const firstMs = Date.parse('2026-10-20T00:00:00Z');
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The same numbers at each run, from 0 to 1. */
function createRandom(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = createRandom();
const oneOf = <T>(...values: readonly T[]): T | undefined =>
  values[Math.floor(random() * values.length)];

/** Some last a minute, some days, and many end or begin around midnight. The ids of a few end alike. */
function visit(index: number): Partial<StoredRow>[] {
  const sessionId = index % 10 === 0 ? `${randomUUID().slice(0, -8)}0000cafe` : randomUUID();
  const isAtMidnight = random() < 0.3;
  const startMs = isAtMidnight
    ? firstMs + Math.floor(random() * 9) * dayMs - 60_000
    : firstMs + Math.floor(random() * 9 * dayMs);
  const gapMs = oneOf(0, 1, 60_000, 5 * hourMs, 23 * hourMs, 30 * hourMs, 50 * hourMs) ?? 0;
  // Some go on for days.
  const length = 1 + Math.floor(random() * (gapMs === 5 * hourMs ? 14 : 4));
  return Array.from({ length }, (_, place) => ({
    sessionId,
    distinctId: `visitor-${index % 40}`,
    cookieless: index % 7 === 0,
    kind: oneOf('page_view', 'page_view', 'page_view', 'click', 'scroll', 'page_leave') ?? '',
    occurTimeMs: startMs + place * gapMs,
    columns: {
      ...(random() < 0.8 && { pathname: oneOf('/a', '/b', '/ü') ?? '' }),
      ...(random() < 0.5 && { channel: oneOf('Direct', 'Paid Search') ?? '' }),
      ...(random() < 0.5 && { device_type: oneOf('mobile', 'desktop', 'tablet') ?? '' }),
    },
    strings: random() < 0.1 ? { $country: '' } : {},
  }));
}

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  project = new AskedProject(service);
  const rows = Array.from({ length: 300 }, (_, index) => visit(index)).flat();
  // Several inserts, in no order of time: a visit's later events may be stored first.
  const inserts: Partial<StoredRow>[][] = [[], [], [], []];
  for (const row of rows) inserts[Math.floor(random() * inserts.length)]?.push(row);
  // Each insert stays a part of its own: a session has several rows on many days.
  for (const table of ['visits', 'visit_entries']) {
    await service.clickhouse.command({ query: `SYSTEM STOP MERGES ${table}` });
  }
  for (const insert of inserts) await project.store(insert);
  await project.change(
    [
      { distinctId: 'visitor-1', owner: 'ada', root: 'ada', wasClaimed: true },
      { distinctId: 'ada', traits: { plan: 'pro' } },
      { distinctId: 'visitor-2', deleted: true },
    ],
    '1',
  );
});
afterAll(() => service.stop());

const metrics = [
  SessionMetric.SESSIONS,
  SessionMetric.AVG_DURATION,
  SessionMetric.BOUNCE_RATE,
  SessionMetric.AVG_EVENTS_PER_SESSION,
  SessionMetric.ENTRY,
  SessionMetric.EXIT,
];
const days = (timezone: string, fromMs: number, toMs: number): AskedRange => ({
  ...{ timezone, fromMs, toMs },
  granularity: Granularity.DAY,
});
const lastRange = days('Europe/Berlin', firstMs + 2 * dayMs + 17, firstMs + 5 * dayMs + 12_345_678);
const ranges = [
  days('UTC', firstMs, firstMs + 7 * dayMs),
  days('Europe/Berlin', firstMs - 2 * hourMs, firstMs + 7 * dayMs - hourMs),
  days('Asia/Kolkata', firstMs + dayMs - 5.5 * hourMs, firstMs + 4 * dayMs - 5.5 * hourMs),
  // A visit may have begun on the first day of the range before that begins.
  days('UTC', firstMs + 4 * dayMs + 12 * hourMs, firstMs + 7 * dayMs),
  lastRange,
];

/** Asks both at once, which takes less time. */
async function expectAsRows(spec: AskedSpec, range: AskedRange): Promise<void> {
  const [stored, raw] = await Promise.all([project.ask(spec, range), project.askRows(spec, range)]);
  expect(stored).toEqual(raw);
}

it.each(metrics)('answers the metric %s as raw rows do', async (metric) => {
  const isEdge = metric === SessionMetric.ENTRY || metric === SessionMetric.EXIT;
  const specs: AskedSpec[] = [
    { session: { metric } },
    { session: { metric }, breakdowns: [{ property: '$pathname' }], breakdownLimit: 2 },
    {
      session: { metric },
      breakdowns: [{ property: '$channel' }, { property: '$deviceType' }, { property: '$channel' }],
    },
    ...(isEdge
      ? [
          { session: { metric, scope: { kind: 'click' } } },
          {
            session: { metric, scope: { kind: 'page_view' } },
            breakdowns: [{ property: '$pathname' }, { property: '$deviceType' }],
          },
        ]
      : []),
  ];
  for (const spec of specs) {
    for (const range of ranges) {
      await expectAsRows({ insightType: InsightType.TRENDS, ...spec }, range);
    }
  }
});

it('answers the same once the parts are merged', async () => {
  const whole = { insightType: InsightType.SEGMENTATION };
  const specs: AskedSpec[] = [
    { ...whole, session: { metric: SessionMetric.AVG_DURATION } },
    {
      ...whole,
      session: { metric: SessionMetric.SESSIONS },
      breakdowns: [{ property: '$channel' }],
    },
    { ...whole, session: { metric: SessionMetric.EXIT }, breakdowns: [{ property: '$pathname' }] },
  ];
  const askAll = () =>
    Promise.all(ranges.flatMap((range) => specs.map((spec) => project.ask(spec, range))));
  const before = await askAll();
  for (const table of ['visits', 'visit_entries']) {
    await service.clickhouse.command({ query: `SYSTEM START MERGES ${table}` });
    await service.clickhouse.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
  }
  // So that the stored version is another one, and nothing in the ranges.
  await project.change([{ distinctId: 'somebody' }], '99');
  expect(await askAll()).toEqual(before);
});

it('is read: a visit that is in the table alone counts', async () => {
  const spec: AskedSpec = {
    insightType: InsightType.SEGMENTATION,
    session: { metric: SessionMetric.SESSIONS },
  };
  const range = days('UTC', firstMs, firstMs + dayMs + 1);
  const count = ({ result }: Answered): number =>
    result.case === 'segmentation' ? (result.value.total ?? 0) : 0;
  const raw = count(await project.askRows(spec, range));
  await service.clickhouse.command({
    query: `INSERT INTO visits (project_id, day, session_id, first_time, last_time, events)
      SELECT {project:String}, '2026-10-20', generateUUIDv4(), '2026-10-20 01:00:00', '2026-10-20 01:00:00', 1`,
    query_params: { project: project.id },
  });
  const after = [await project.ask(spec, range), await project.askRows(spec, range)];
  expect(after.map(count)).toEqual([raw + 1, raw]);
});
