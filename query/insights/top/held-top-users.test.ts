// Top users from held days answer as the rows of events do: the same questions are asked again with an as_of in the far
// future, for which only rows of events can tell.

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { dayMs } from '../../../platform/clock.ts';
import {
  InsightType,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  AskedProject,
  type AskedRange,
  type AskedSpec,
} from '../../../test/harness/insights/asked-project.ts';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../../test/harness/services/read-service.ts';
import type { StoredRow } from '../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const firstMs = Date.parse('2026-10-20T00:00:00Z');
const days = 9;
const hourMs = 3_600_000;
let nowMs = 0;
let completeUntilMs: number | undefined;
/** Statements that found days held: the days that they read themselves. */
let held: string[][] = [];
let loadedDays = 0;
/** What happens once, before a day is read into memory. */
let beforeLoad: (() => Promise<void>) | undefined;
async function onceBeforeLoad(): Promise<void> {
  const gate = beforeLoad;
  beforeLoad = undefined;
  await gate?.();
}
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    nowMs: () => nowMs,
    completeUntilMs: async () => completeUntilMs,
    reader: (store) => ({
      async select(select, onRow) {
        const { sql, params } = select;
        if (sql.startsWith('SELECT toUInt16(day)')) {
          const { days: read } = params;
          loadedDays += Array.isArray(read) ? read.length : 0;
          await onceBeforeLoad();
        }
        if (sql.includes('day IN {days_not_kept:Array(Date)}')) {
          const { days_not_kept: own } = params;
          held.push(Array.isArray(own) ? own.map(String) : []);
        }
        await store.select(select, onRow);
      },
    }),
  });
});
afterAll(() => service.stop());

let project: AskedProject;
beforeEach(async () => {
  project = new AskedProject(service);
  nowMs = firstMs + 20 * dayMs;
  completeUntilMs = nowMs;
  await project.store(Array.from({ length: 300 }, (_, index) => eventOf(index)));
  [held, loadedDays] = [[], 0];
});

function eventOf(index: number): Partial<StoredRow> {
  const cookieless = index % 17 === 0;
  return {
    occurTimeMs: firstMs + (index % days) * dayMs + ((index * 7_919_000) % dayMs),
    distinctId: `${cookieless ? 'cookieless' : 'visitor'}-${(index * index) % 23}`,
    cookieless,
  };
}

/** From an hour of the second day to an hour of the last one: seven whole days. */
const whole = { fromMs: firstMs + 5 * hourMs, toMs: firstMs + 8 * dayMs + 20 * hourMs };

const topUsers = { dimension: TopKQuery_Dimension.USER, limit: 5 };
const ofTopUsers: AskedSpec = { insightType: InsightType.TOP_K, topK: topUsers };

/** Another one each time, so that no answer is kept whole. */
const rangeOf = (turn: number): AskedRange => ({
  ...whole,
  toMs: whole.toMs - turn * 900_000,
  timezone: 'Europe/Berlin',
});

let turn = 0;
/** The next question. */
async function expectAsRows(more: AskedSpec = {}): Promise<void> {
  turn = (turn + 1) % 60;
  await project.expectAsRows({ ...ofTopUsers, ...more }, rangeOf(turn));
}

/** Asks until all days are held: they are read beside the questions. */
async function untilHeld(): Promise<void> {
  await vi.waitFor(async () => {
    await expectAsRows();
    expect(held.at(-1)).toEqual([]);
  }, patience);
}
const patience = { timeout: 20_000, interval: 20 };

async function hold(): Promise<void> {
  await untilHeld();
  [held, loadedDays] = [[], 0];
}

const late = (day: number, distinctId: string, count = 1): Partial<StoredRow>[] =>
  Array.from({ length: count }, (_, index) => ({
    occurTimeMs: firstMs + day * dayMs + index * 60_000,
    distinctId,
  }));

describe('top users', () => {
  it('are held after the second question, and read no whole day then', async () => {
    await expectAsRows();
    expect([loadedDays, held]).toEqual([0, []]);
    await untilHeld();
    expect(loadedDays).toBe(7);
    held = [];
    await expectAsRows({ topK: { ...topUsers, limit: 1, omitOthers: true } });
    await expectAsRows({ topK: { ...topUsers, limit: 100 } });
    expect([loadedDays, held]).toEqual([7, [[], []]]);
  });

  it('of a project without events are none', async () => {
    project = new AskedProject(service);
    await hold();
    await expectAsRows();
    expect(held).toEqual([[]]);
  });

  it('have late events: the day is read anew', async () => {
    await hold();
    await project.store(late(4, 'latecomer', 60));
    completeUntilMs = 0;
    await expectAsRows();
    // Nobody knows whether more of it is on its way.
    expect(loadedDays).toBe(0);
    expect(held.at(-1)).toEqual(['2026-10-24']);
    completeUntilMs = nowMs;
    await untilHeld();
    expect(loadedDays).toBe(1);
  });

  it('have an event that was stored while its day was read', async () => {
    await expectAsRows();
    beforeLoad = () => project.store(late(1, 'latecomer', 70));
    await untilHeld();
    // Once more for the day that changed.
    expect(loadedDays).toBe(8);
  });

  it('follow merges, unmerges and deletions', async () => {
    await hold();
    await project.change(
      [
        { distinctId: 'visitor-1', owner: 'ada', root: 'ada', wasClaimed: true },
        { distinctId: 'visitor-4', owner: 'ada', root: 'ada', wasClaimed: true },
        // Neither the id nor its root has events.
        { distinctId: 'nobody', owner: 'noone', root: 'noone', wasClaimed: true },
        { distinctId: 'ada' },
      ],
      '1',
    );
    await expectAsRows();
    const wasOfAda = { storedRoot: 'ada', wasClaimed: true };
    await project.change(
      [{ distinctId: 'visitor-4', owner: 'bob', root: 'bob', ...wasOfAda }],
      '2',
    );
    await expectAsRows();
    await project.change(
      [{ distinctId: 'visitor-1', owner: 'visitor-1', root: '', ...wasOfAda }],
      '3',
    );
    await expectAsRows();
    expect(held).toEqual([[], [], []]);
    await project.change(
      [
        { distinctId: 'bob', deleted: true },
        { distinctId: 'visitor-9', deleted: true },
      ],
      '4',
    );
    await expectAsRows();
    await expectAsRows();
    expect(loadedDays).toBe(0);
    expect(held.length).toBeGreaterThan(4);
    await project.change([{ distinctId: 'bob', deleted: false }], '5');
    await expectAsRows();
  });

  it('with cookieless visitors are those of the tables', async () => {
    await hold();
    for (let question = 0; question < 3; question++)
      await expectAsRows({ includeCookieless: true });
    expect(held).toEqual([]);
  });

  it('of a range of which few days are held are those of the tables', async () => {
    completeUntilMs = 0;
    await expectAsRows();
    await project.store([0, 1, 2, 3, 4, 5].flatMap((day) => late(day, 'latecomer')));
    await expectAsRows();
    expect([loadedDays, held]).toEqual([0, []]);
  });

  it('are answered at once by many', async () => {
    await expectAsRows();
    const turns = Array.from({ length: 6 }, (_, index) => index + 1);
    for (const _ of [1, 2]) {
      const answers = await Promise.all(turns.map((one) => project.ask(ofTopUsers, rangeOf(one))));
      for (const [index, answer] of answers.entries()) {
        expect(answer).toEqual(await project.askRows(ofTopUsers, rangeOf(index + 1)));
      }
    }
    await untilHeld();
    expect(loadedDays).toBe(7);
  });
});
