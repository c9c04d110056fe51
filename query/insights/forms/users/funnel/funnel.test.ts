// FUNNEL over HTTP on a real engine against the plainest reading of its definition: many questions over the events of
// few people in few moments, so that all that can meet does.

import { randomUUID } from 'node:crypto';
import { type Duration, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator } from '../../../../../proto/gen/common/v1/filter_pb.js';
import {
  type FunnelSeries,
  Granularity,
  type InsightsService,
  InsightType,
  FunnelQuery_Order as Order,
  FunnelQuery_Reentry as Reentry,
} from '../../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { AskedSpec } from '../../../../../test/harness/insights/asked-project.ts';
import {
  type FunnelEvent,
  type FunnelUser,
  type PlainFunnel,
  plainFunnelUsers,
  reachedBy,
} from '../../../../../test/harness/insights/plain-funnel.ts';
import { createDraw, type Draw } from '../../../../../test/harness/insights/random.ts';
import { useEngine } from '../../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../../test/harness/services/read-service.ts';
import {
  type StoredRow,
  storedRow,
  storeRows,
} from '../../../../../test/harness/tables/stored-events.ts';
import { timeBuckets } from '../../../read/time-buckets.ts';

const engine = useEngine();
const project = randomUUID();
let service: ReadService;
let insights: Client<typeof InsightsService>;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** Clocks in Berlin go back on the 25th. */
const startMs = Date.UTC(2026, 9, 23);
const lengthMs = 4 * dayMs;
/** A moment at which windows are open. */
const nowMs = startMs + 3 * dayMs + 7 * hourMs + 12_345;
const kinds = ['view', 'cart', 'buy', 'help'] as const;
const browsers = ['', 'Chrome', 'Firefox', 'Safari'] as const;

let rows: StoredRow[];
beforeAll(async () => {
  const draw = createDraw(7);
  const sessions = Array.from({ length: 30 }, () => randomUUID());
  rows = Array.from({ length: 260 }, () => {
    const occurTimeMs =
      startMs + draw.below(lengthMs / (3 * hourMs)) * 3 * hourMs + draw.pick([0, 0, 1, minuteMs]);
    return storedRow({
      ...{ projectId: project, occurTimeMs, kind: draw.pick(kinds) },
      distinctId: `p${draw.below(draw.pick([4, 20]))}`,
      sessionId: draw.pick(sessions),
      receiveTimeMs: occurTimeMs + draw.pick([0, hourMs, 2 * dayMs]),
      columns: { browser: draw.pick(browsers) },
      strings: draw.chance(0.8) ? { basket: draw.pick(['a', 'b', 'c']) } : {},
    });
  });
  service = await startReadService({
    ...{ clickhouseUrl: engine.url, readsPerSecond: 0, clock: { nowMs: () => nowMs } },
  });
  insights = service.insights(project);
  await storeRows(service.clickhouse, rows.slice(0, 100));
  await storeRows(service.clickhouse, rows.slice(100));
});
afterAll(() => service.stop());

interface Ask {
  spec: AskedSpec;
  fromMs: number;
  toMs: number;
  asOfMs: number | undefined;
  granularity: Granularity;
  timezone: string;
}

type Step = { kinds: string[]; browser: string | undefined };

const drawStep = (draw: Draw): Step => ({
  kinds: draw.pick([[], [draw.pick(kinds)], [draw.pick(kinds)], ['cart', draw.pick(kinds)]]),
  browser: draw.chance(0.3) ? 'Chrome' : undefined,
});

function eventOf({ kinds: named, browser }: Step) {
  const { EQUALS: operator } = FilterOperator;
  return {
    ...(named.length === 1 ? { kind: named[0] ?? '' } : { kinds: named }),
    filters: browser === undefined ? [] : [{ property: '$browser', operator, value: browser }],
  };
}

const matchesOf =
  (step: Step) =>
  (event: FunnelEvent): boolean =>
    (step.kinds.length === 0 || step.kinds.includes(event.kind)) &&
    (step.browser === undefined || event.group === step.browser);

/** A question, and what is the same for its plainest reading. */
function drawAsk(draw: Draw, order: Order): { ask: Ask; plain: PlainFunnel } {
  const different = draw.chance(0.5);
  const steps = different
    ? kinds.slice(0, 2 + draw.below(3)).map((kind) => ({ kinds: [kind], browser: undefined }))
    : Array.from({ length: 2 + draw.below(3) }, () => drawStep(draw));
  const takesPlaces = order !== Order.ANY;
  const exclusions = (
    order === Order.STRICT || draw.chance(0.4) ? [] : [1, 2].slice(draw.below(2))
  ).map(() => {
    const fromStep = 1 + draw.below(steps.length - 1);
    const toStep = fromStep + 1 + draw.below(steps.length - fromStep);
    const isWhole = !takesPlaces || draw.chance(0.4);
    return {
      step: different ? { kinds: ['help'], browser: undefined } : drawStep(draw),
      ...(isWhole ? { fromStep: 0, toStep: 0 } : { fromStep, toStep }),
    };
  });
  const held = draw.pick(['', '', 'basket', '$browser', '$sessionId']);
  const fromMs = startMs + draw.pick([0, 5 * hourMs, dayMs + 1]);
  const toMs = startMs + draw.pick([2 * dayMs, 3 * dayMs + 1, lengthMs]);
  const windowMs = draw.pick([1, minuteMs, 6 * hourMs, dayMs, 30 * dayMs]);
  const overTime = draw.chance(0.4);
  const asOfMs = draw.chance(0.3) ? startMs + 2.5 * dayMs : undefined;
  const timezone = draw.pick(['', 'Europe/Berlin', 'Asia/Kolkata']);
  const granularity = draw.pick([Granularity.HOUR, Granularity.DAY]);
  const isFirstOnly = draw.chance(0.3);
  const openFromMs = Math.min(asOfMs ?? nowMs, Math.floor(nowMs / minuteMs) * minuteMs) - windowMs;
  return {
    ask: {
      ...{ fromMs, toMs, asOfMs, granularity, timezone },
      spec: {
        insightType: InsightType.FUNNEL,
        events: steps.map((step) => ({ event: eventOf(step) })),
        breakdowns: draw.chance(0.4) ? [{ property: '$browser' }] : [],
        breakdownLimit: 2,
        includeStepTiming: !overTime && draw.chance(0.5),
        conversionWindow: durationOf(windowMs),
        funnel: {
          ...{ order, overTime, holdProperty: held },
          reentry: isFirstOnly ? Reentry.FIRST : draw.pick([Reentry.EVERY, Reentry.UNSPECIFIED]),
          exclusions: exclusions.map(({ step, fromStep, toStep }) => ({
            ...{ event: eventOf(step), fromStep, toStep },
          })),
        },
      },
    },
    plain: {
      ...{ fromMs, toMs, windowMs, isFirstOnly, openFromMs, isHeld: held !== '' },
      order: order === Order.ANY ? 'any' : order === Order.STRICT ? 'strict' : 'ordered',
      buckets: timeBuckets(
        granularity,
        { timezone: timezone || 'UTC', weekStart: 1 },
        fromMs,
        toMs,
      ),
      steps: steps.map(matchesOf),
      exclusions: exclusions.map(({ step, fromStep, toStep }) => ({
        matches: matchesOf(step),
        ...{ fromStep: fromStep || 1, toStep: toStep || steps.length },
      })),
      events: rows
        .filter(({ receiveTimeMs }) => receiveTimeMs <= (asOfMs ?? Number.POSITIVE_INFINITY))
        .map((row) => ({
          ...{ eventId: row.eventId, kind: row.kind, occurTimeMs: row.occurTimeMs },
          ...{ user: row.distinctId, group: row.columns['browser'] ?? '', held: heldOf(row, held) },
        })),
    },
  };
}

function heldOf(row: StoredRow, held: string): string | undefined {
  if (held === '$sessionId') return row.sessionId;
  return (held === 'basket' ? row.strings['basket'] : row.columns['browser']) || undefined;
}

function durationOf(ms: number): Pick<Duration, 'seconds' | 'nanos'> {
  return { seconds: BigInt(Math.floor(ms / 1_000)), nanos: (ms % 1_000) * 1e6 };
}

async function answer({ fromMs, toMs, asOfMs, ...ask }: Ask): Promise<FunnelSeries[]> {
  const { result } = await insights.query({
    ...ask,
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    ...(asOfMs !== undefined && { asOf: timestampFromMs(asOfMs) }),
  });
  return result.case === 'funnel' ? result.value.series : expect.fail('no funnel');
}

function shown({ spec }: Ask, series: FunnelSeries) {
  return {
    group:
      spec.breakdowns?.length === 0
        ? 'all'
        : series.isOthers
          ? 'others'
          : (series.breakdown['$browser'] ?? ''),
    totals: series.steps.map(({ total }) => total),
    open: series.open,
    incompleteFromMs: series.incompleteFrom && timestampMs(series.incompleteFrom),
    medians: series.steps.map(
      ({ timing }) =>
        timing &&
        Math.round(Number(timing.median?.seconds) * 1_000 + (timing.median?.nanos ?? 0) / 1e6),
    ),
    averages: series.steps.map(
      ({ timing }) =>
        timing && Math.round(Number(timing.avg?.seconds) * 1_000 + (timing.avg?.nanos ?? 0) / 1e6),
    ),
    buckets: series.buckets.map(({ time, totals, open }) => ({
      ...{ startMs: time && timestampMs(time), totals, open },
    })),
  };
}

function expected({ spec }: Ask, plain: PlainFunnel) {
  const incomplete = Math.max(plain.openFromMs, plain.fromMs);
  const isOver = incomplete >= plain.toMs;
  const { overTime = false } = spec.funnel ?? {};
  const incompleteFromMs = overTime ? plain.buckets.findLast((ms) => ms <= incomplete) : incomplete;
  return ranked(plainFunnelUsers(plain), spec.breakdowns?.length !== 0).map(({ group, users }) => {
    const times = plain.steps.map((_, step) =>
      users
        .filter(({ chain }) => chain.length > step)
        .map(({ chain }) => (chain[step] ?? 0) - (chain[step - 1] ?? 0))
        .sort((one, other) => one - other),
    );
    const ofSteps = (number: (times: number[]) => number) =>
      times.map((own, step) => (spec.includeStepTiming && step > 0 ? number(own) : undefined));
    return {
      ...{
        group,
        ...reachedBy(
          plain,
          users.map(({ entries }) => entries),
        ),
      },
      incompleteFromMs: isOver ? undefined : incompleteFromMs,
      medians: ofSteps((own) => own[Math.ceil(own.length / 2) - 1] ?? 0),
      averages: ofSteps((own) =>
        own.length === 0 ? 0 : Math.round(own.reduce((sum, ms) => sum + ms, 0) / own.length),
      ),
      buckets: (overTime ? plain.buckets : []).map((bucketMs, place) => {
        const endMs = plain.buckets[place + 1] ?? Number.POSITIVE_INFINITY;
        const within = users.map(({ entries }) =>
          entries.filter(({ atMs }) => atMs >= bucketMs && atMs < endMs),
        );
        return { startMs: bucketMs, ...reachedBy(plain, within) };
      }),
    };
  });
}

function ranked(users: readonly FunnelUser[], isSplit: boolean) {
  if (!isSplit) return [{ group: 'all', users: [...users] }];
  const groups = [...new Set(users.map(({ group }) => group))]
    .map((group) => ({ group, users: users.filter((user) => user.group === group) }))
    .sort(
      (one, other) => other.users.length - one.users.length || (one.group < other.group ? -1 : 1),
    );
  const others = groups.slice(2).flatMap((group) => group.users);
  return [
    ...groups.slice(0, 2),
    ...(others.length === 0 ? [] : [{ group: 'others', users: others }]),
  ];
}

describe.each([Order.ORDERED, Order.ANY, Order.STRICT])('a funnel of the order %s', (order) => {
  it('answers as its definition reads', { timeout: 600_000 }, async () => {
    const draw = createDraw(order + 10 * Number(process.env['SEED'] ?? 0));
    const questions = Number(process.env['QUESTIONS'] ?? 20);
    for (let number = 0; number < questions; number += 1) {
      const { ask, plain } = drawAsk(draw, order);
      const message = `question ${number}: ${JSON.stringify(ask, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}`;
      const got = (await answer(ask)).map((series) => shown(ask, series));
      expect(got, message).toEqual(expected(ask, plain));
    }
  });
});

describe('a funnel is refused', () => {
  const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + lengthMs) };
  const event = { kind: 'help' };
  const unknown = Number('9');
  const of = (funnel: NonNullable<AskedSpec['funnel']>, more: AskedSpec = {}): AskedSpec => ({
    ...{ insightType: InsightType.FUNNEL, events: [{}, {}, {}], funnel, ...more },
  });
  it.each<[string, AskedSpec]>([
    ['spec.funnel.order: 9 is not', of({ order: unknown })],
    ['spec.funnel.reentry: 9 is not', of({ reentry: unknown })],
    ['spec.funnel.exclusions: takes at most 10', of({ exclusions: Array(11).fill({ event }) })],
    ['spec.funnel.exclusions: must be empty', of({ order: Order.STRICT, exclusions: [{ event }] })],
    ['spec.funnel.exclusions[0].event: is required', of({ exclusions: [{}] })],
    [
      'spec.funnel.exclusions[1].fromStep: must be from 1 to 2',
      of({ exclusions: [{ event }, { event, fromStep: 3 }] }),
    ],
    [
      'spec.funnel.exclusions[0].toStep: must be from 3 to 3',
      of({ exclusions: [{ event, fromStep: 2, toStep: 2 }] }),
    ],
    [
      'spec.funnel.exclusions[0].toStep: must not be set where order is ANY',
      of({ order: Order.ANY, exclusions: [{ event, toStep: 3 }] }),
    ],
    [
      'spec.funnel.exclusions[0].event.kind: takes at most',
      of({ exclusions: [{ event: { kind: 'k'.repeat(201) } }] }),
    ],
    ['spec.funnel.holdProperty: takes at most', of({ holdProperty: 'p'.repeat(256) })],
    [
      'spec.includeStepTiming: must not be set where funnel.overTime is',
      of({ overTime: true }, { includeStepTiming: true }),
    ],
    [
      'spec.events: takes at most 10 steps over time',
      of({ overTime: true }, { events: Array(11).fill({}) }),
    ],
  ])('with %s', async (rule, spec) => {
    await expect(insights.query({ spec, timeRange })).rejects.toThrow(`[invalid_argument] ${rule}`);
  });
});
