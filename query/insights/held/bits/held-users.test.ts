// Users of every kind from held days: users a day, retention, lifecycle and stickiness answer as the rows of events do.
// The same questions are asked again with an as_of in the far future, for which only rows of events can tell.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { dayMs } from '../../../../platform/clock.ts';
import {
  AggregationType,
  Granularity,
  InsightType,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { AskedProject, type AskedRange } from '../../../../test/harness/insights/asked-project.ts';
import { createDraw } from '../../../../test/harness/insights/random.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';

const engine = useEngine();
const hourMs = 3_600_000;
const minuteMs = 60_000;
/** Berlin's clocks go back on the 25th. */
const firstMs = Date.parse('2026-10-05T00:00:00Z');
const days = 30;
const draw = createDraw(11);
let nowMs = 0;
let completeUntilMs: number | undefined;
/** The days that each statement over held days read itself. */
let held: unknown[] = [];
let readsOfFirstDays = 0;
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    nowMs: () => nowMs,
    completeUntilMs: async () => completeUntilMs,
    reader: (store) => ({
      select(select, onRow) {
        const { sql, params } = select;
        const { days_not_kept: own } = params;
        if (/reinterpretAsFixedString.*days_not_kept/s.test(sql)) held.push(own);
        if (sql.includes('{part:UInt32}')) readsOfFirstDays++;
        return store.select(select, onRow);
      },
    }),
  });
});
afterAll(() => service.stop());

let project: AskedProject;
beforeEach(async () => {
  project = new AskedProject(service);
  nowMs = firstMs + 40 * dayMs;
  completeUntilMs = nowMs;
  await store(600, () => firstMs + draw.below(days * dayMs));
  [held, readsOfFirstDays] = [[], 0];
});

/** Few come often, many once; some have no profile. */
async function store(count: number, momentMs: () => number): Promise<void> {
  const rows = Array.from({ length: count }, () => {
    const cookieless = draw.chance(0.1);
    const person = draw.chance(0.5) ? draw.below(8) : draw.below(200);
    const distinctId = `${cookieless ? 'cookieless' : 'visitor'}-${person}`;
    return { occurTimeMs: momentMs(), cookieless, distinctId };
  });
  await project.store(rows);
}

interface Asked extends AskedRange {
  insightType: InsightType;
  includeCookieless: boolean;
}

let turn = 0;
/** The next question: another range each time, so that no answer is kept whole. */
async function expectAsRows({ insightType, includeCookieless, ...range }: Asked): Promise<void> {
  turn = (turn + 1) % 40;
  const { TOTAL, UNIQUE_USERS } = AggregationType;
  const aggregation = insightType === InsightType.TRENDS ? UNIQUE_USERS : TOTAL;
  const events = [{ event: {}, aggregation }];
  const toMs = range.toMs - turn * 15 * minuteMs;
  await project.expectAsRows({ insightType, events, includeCookieless }, { ...range, toMs });
}

/** Asks until all days are held: they are read beside the questions. */
async function untilHeld(asked: Asked): Promise<void> {
  held = [];
  await vi.waitFor(
    async () => {
      await expectAsRows(asked);
      expect(held.at(-1)).toEqual([]);
    },
    { timeout: 20_000, interval: 20 },
  );
}

const types = ['TRENDS', 'RETENTION', 'LIFECYCLE', 'STICKINESS'] as const;
const zones = ['Europe/Berlin', 'UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati'];
const { DAY, WEEK } = Granularity;
const lifecycle: Asked = {
  insightType: InsightType.LIFECYCLE,
  ...{ timezone: 'Europe/Berlin', granularity: DAY, includeCookieless: false },
  fromMs: firstMs + 9 * dayMs - 2 * hourMs,
  toMs: firstMs + days * dayMs,
};

describe('users of held days', () => {
  it.each(types)('of %s are those of raw rows', async (type) => {
    for (const [index, timezone] of zones.entries()) {
      const asked = {
        ...{ insightType: InsightType[type], timezone },
        granularity: index % 2 === 0 ? DAY : WEEK,
        // Once a range begins where a quarter of an hour does not.
        fromMs: firstMs + (5 + draw.below(5)) * dayMs + draw.below(96) * 15 * minuteMs,
        toMs: lifecycle.toMs,
        includeCookieless: type !== 'LIFECYCLE' && index % 2 === 1,
      };
      nowMs += 10 * minuteMs;
      completeUntilMs = nowMs;
      await untilHeld(asked);
      if (index === 0) {
        const merges = Array.from({ length: 20 }, (_, one) => ({
          ...{ distinctId: `visitor-${one}`, owner: `visitor-${100 + (one % 7)}` },
          ...{ root: `visitor-${100 + (one % 7)}`, wasClaimed: true },
        }));
        await project.change(merges, '1');
      }
      if (index === 2) {
        await project.change([{ distinctId: 'visitor-101', deleted: true }], '2');
        await store(30, () => firstMs + (12 + draw.below(3)) * dayMs);
      }
      await expectAsRows(asked);
      nowMs += 10 * minuteMs;
      completeUntilMs = nowMs;
      await untilHeld(asked);
    }
  });

  it('who came before are no longer new: the first days of all are read anew, but not at once', async () => {
    await untilHeld(lifecycle);
    expect(readsOfFirstDays).toBe(1);
    held = [];
    await store(50, () => firstMs + draw.below(5 * dayMs));
    await expectAsRows(lifecycle);
    expect([held, readsOfFirstDays]).toEqual([[], 1]);
    nowMs += 10 * minuteMs;
    completeUntilMs = 0;
    await expectAsRows(lifecycle);
    expect(readsOfFirstDays).toBe(1);
    completeUntilMs = nowMs;
    await untilHeld(lifecycle);
    expect(readsOfFirstDays).toBe(2);
  });

  it('of other ranges know who came before, if these begin later', async () => {
    await untilHeld(lifecycle);
    await untilHeld({ ...lifecycle, fromMs: lifecycle.fromMs + 4 * dayMs });
    expect(readsOfFirstDays).toBe(1);
    held = [];
    await expectAsRows({ ...lifecycle, fromMs: lifecycle.fromMs - 3 * dayMs });
    expect(held).toEqual([]);
  });
});
