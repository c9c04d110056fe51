// Funnels with steps that may be skipped, over HTTP on a real engine, with answers worked out by hand.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../../../platform/clock.ts';
import {
  InsightType,
  FunnelQuery_Order as Order,
} from '../../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { AskedSpec } from '../../../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const projectId = randomUUID();
const startMs = Date.UTC(2026, 9, 10);
const timeRange = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + dayMs) };
let service: ReadService;

/** What each did, a minute after the other, and in which basket. */
const done: Record<string, readonly [kind: string, basket?: string][]> = {
  with: [
    ['view', 'a'],
    ['coupon', 'a'],
    ['buy', 'a'],
  ],
  without: [
    ['view', 'a'],
    ['buy', 'a'],
  ],
  late: [
    ['view', 'a'],
    ['buy', 'a'],
    ['coupon', 'a'],
  ],
  again: [
    ['view', 'a'],
    ['buy', 'a'],
    ['coupon', 'a'],
    ['buy', 'a'],
  ],
  stopped: [
    ['view', 'a'],
    ['coupon', 'a'],
  ],
  before: [
    ['coupon', 'a'],
    ['view', 'a'],
    ['buy', 'a'],
  ],
  helped: [
    ['view', 'a'],
    ['help', 'a'],
    ['coupon', 'a'],
    ['buy', 'a'],
  ],
  elsewhere: [
    ['view', 'a'],
    ['coupon', 'b'],
    ['buy', 'a'],
  ],
  looked: [
    ['view', 'a'],
    ['review', 'a'],
    ['coupon', 'a'],
    ['buy', 'a'],
  ],
  never: [
    ['coupon', 'a'],
    ['buy', 'a'],
  ],
};

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, readsPerSecond: 0 });
  await storeRows(
    service.clickhouse,
    Object.entries(done).flatMap(([distinctId, events]) =>
      events.map(([kind, basket = ''], n) =>
        storedRow({
          ...{ projectId, distinctId, kind, occurTimeMs: startMs + n * 60_000 },
          ...{ strings: { basket }, columns: { browser: distinctId < 'l' ? 'Chrome' : 'Safari' } },
        }),
      ),
    ),
  );
});
afterAll(() => service.stop());

const stepsOf = (...kinds: string[]) => kinds.map((kind) => ({ event: { kind } }));
const skips = { events: stepsOf('view', 'coupon', 'buy'), funnel: { optionalSteps: [2] } };

async function ask(spec: AskedSpec) {
  const { result } = await service
    .insights(projectId)
    .query({ timeRange, spec: { insightType: InsightType.FUNNEL, ...spec } });
  if (result.case !== 'funnel') return expect.fail('no funnel');
  return result.value.series;
}

async function totals(spec: AskedSpec): Promise<(number | undefined)[]> {
  const [series] = await ask(spec);
  return series?.steps.map(({ total }) => total) ?? [];
}

async function personsAt(spec: AskedSpec, point: object): Promise<string[]> {
  const { distinctIds } = await service.insights(projectId).segmentUsers({
    timeRange,
    point: { spec: { insightType: InsightType.FUNNEL, ...spec }, ...point },
  });
  return distinctIds.toSorted();
}

describe('a step that may be skipped', () => {
  it('changes nothing of the others, and counts who took it between its neighbours', async () => {
    const without = await totals({ events: stepsOf('view', 'buy') });
    expect(without).toEqual([9, 8]);
    // Who had bought before the coupon counts where they bought once more.
    expect(await totals(skips)).toEqual([9, 5, 8]);
    const [series] = await ask(skips);
    expect(series?.steps.map(({ isOptional }) => isOptional)).toEqual([false, true, false]);
  });

  it('has its persons, and the others have theirs', async () => {
    expect(await personsAt(skips, { step: 2 })).toEqual([
      ...['again', 'elsewhere', 'helped', 'looked', 'with'],
    ]);
    expect(await personsAt(skips, { step: 3 })).toHaveLength(8);
    expect(await personsAt(skips, { step: 1, droppedOff: true })).toEqual(['stopped']);
  });

  it('is ended by exclusions around it, and in the same value of what is held', async () => {
    const exclusions = [{ event: { kind: 'help' } }];
    const excluding = { ...skips, funnel: { ...skips.funnel, exclusions } };
    expect(await totals(excluding)).toEqual([9, 4, 7]);
    const held = { ...skips, funnel: { ...skips.funnel, holdProperty: 'basket' } };
    expect(await totals(held)).toEqual([9, 4, 8]);
  });

  it('is looked at alone where several follow one another', async () => {
    const events = stepsOf('view', 'review', 'coupon', 'buy');
    const spec = { events, funnel: { optionalSteps: [3, 2] } };
    expect(await totals(spec)).toEqual([9, 1, 5, 8]);
    const required = { events, funnel: { optionalSteps: [3] } };
    expect(await totals(required)).toEqual([9, 1, 1, 1]);
  });

  it('may be an event that other steps are, too', async () => {
    // Any event between view and buy: the first buy of who bought twice is one.
    const events = [{ event: { kind: 'view' } }, { event: {} }, { event: { kind: 'buy' } }];
    expect(await totals({ ...skips, events })).toEqual([9, 5, 8]);
  });

  it('stands beside groups and times, which are those of the steps around it', async () => {
    const timed = { ...skips, includeStepTiming: true };
    const [whole] = await ask(timed);
    expect(whole?.steps.map(({ total }) => total)).toEqual([9, 5, 8]);
    expect(whole?.steps.map(({ timing }) => timing !== undefined)).toEqual([false, false, true]);
    // From view to buy: a minute for three, two for three, and three for the two with another event between.
    expect(
      whole?.steps[2]?.timing?.distribution.map(({ count }) => Number(count)).slice(0, 3),
    ).toEqual([0, 4, 4]);
    const breakdowns = [{ property: '$browser' }];
    for (const spec of [skips, timed]) {
      const groups = await ask({ ...spec, breakdowns });
      expect(
        groups.map(({ breakdown, steps }) => [
          breakdown['$browser'],
          steps.map(({ total }) => total),
        ]),
      ).toEqual([
        ['Safari', [5, 2, 4]],
        ['Chrome', [4, 3, 4]],
      ]);
    }
    const chrome = { step: 2, breakdown: { $browser: 'Chrome' } };
    expect(await personsAt({ ...skips, breakdowns }, chrome)).toEqual([
      ...['again', 'elsewhere', 'helped'],
    ]);
  });
});

it.each<[string, AskedSpec]>([
  ['spec.funnel.optionalSteps[0]: must be from 2 to 2', { funnel: { optionalSteps: [1] } }],
  ['spec.funnel.optionalSteps[0]: must be from 2 to 2', { funnel: { optionalSteps: [3] } }],
  ['spec.funnel.optionalSteps[1]: is there twice', { funnel: { optionalSteps: [2, 2] } }],
  ['spec.funnel.optionalSteps: is for three steps or more', { events: stepsOf('view', 'buy') }],
  [
    'spec.funnel.optionalSteps: must be empty unless order is ORDERED',
    { funnel: { ...skips.funnel, order: Order.STRICT } },
  ],
  [
    'spec.funnel.optionalSteps: must be empty unless order is ORDERED',
    { funnel: { ...skips.funnel, order: Order.ANY } },
  ],
  [
    'spec.funnel.optionalSteps: must be empty where overTime is set',
    { funnel: { ...skips.funnel, overTime: true } },
  ],
  [
    'spec.funnel.exclusions[0].toStep: must not be an optional step',
    { funnel: { ...skips.funnel, exclusions: [{ event: {}, toStep: 2 }] } },
  ],
])('is refused by its field: %s', async (rule, spec) => {
  const error = await ask({ ...skips, ...spec }).then(
    () => expect.fail('answered'),
    ConnectError.from,
  );
  expect(error.rawMessage).toBe(rule);
});

it('has no persons who stopped there', async () => {
  const error = await personsAt(skips, { step: 2, droppedOff: true }).then(
    () => expect.fail('answered'),
    ConnectError.from,
  );
  expect(error.rawMessage).toBe('point.droppedOff: must not be set of an optional step');
});
