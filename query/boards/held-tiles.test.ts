// The users of a board's tiles where the days of its ranges are held in memory: they are those of the same questions
// asked one by one, which count users in the tables.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { dayMs, systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { TileSchema } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  AggregationType,
  Granularity,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { createDraw } from '../../test/harness/insights/random.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { insightTurnBounds, turnBounds } from '../calls/turn-bounds.ts';
import { createRunQuestion, type RunQuestion } from '../insights/query-insight.ts';
import { systemTimer } from '../timer.ts';
import { Turns } from '../turns.ts';
import { answerTiles } from './answer-tiles.ts';
import { questionOf } from './question.ts';

const engine = useEngine();
const hourMs = 3_600_000;
const firstMs = Date.UTC(2026, 9, 1);
const days = 40;
/** Berlin's clocks go back on the 25th, 24 days after the first one. */
const zones = ['Europe/Berlin', 'Asia/Kathmandu', 'UTC', 'America/St_Johns', 'Pacific/Kiritimati'];
const draw = createDraw(5);
let clickhouse: ReturnType<typeof createClickHouse>;
/** The days that each statement over held days read itself. */
let readDays: unknown[] = [];

beforeAll(() => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 10 });
});
afterAll(() => clickhouse.close());

function createRun(): RunQuestion {
  return createRunQuestion({
    clickhouse: {
      select: async (select, onRow) => {
        const { days_not_kept: own } = select.params;
        const isHeld = /reinterpretAsFixedString.*days_not_kept/s.test(select.sql);
        if (isHeld) readDays.push(own);
        return clickhouse.select(select, onRow);
      },
    },
    heldDaysMaxBytes: 2 ** 27,
    completeUntilMs: async () => systemClock.nowMs(),
    clock: systemClock,
    turns: new Turns(turnBounds(1), systemTimer),
    insightTurns: new Turns(insightTurnBounds(1), systemTimer),
  });
}

async function store(projectId: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => {
    const cookieless = draw.chance(0.2);
    const visitor = draw.below(60);
    return storedRow({
      ...{ projectId, cookieless },
      distinctId: `${cookieless ? 'cookieless' : 'visitor'}-${visitor}`,
      // Some lie beside a midnight of a zone.
      occurTimeMs:
        firstMs +
        draw.below(days) * dayMs +
        draw.pick([draw.below(dayMs), 22 * hourMs - 1, 22 * hourMs, 18.25 * hourMs, 0]),
    });
  });
  await storeRows(clickhouse, rows);
}

const users = { aggregation: AggregationType.UNIQUE_USERS };
const tiles = [
  { insightType: InsightType.TRENDS, events: [users, { event: { kind: 'page_view' } }] },
  { insightType: InsightType.SEGMENTATION, events: [users] },
].map((value, index) =>
  create(TileSchema, {
    ...{ id: `tile-${index}`, compareToPrevious: true },
    content: { case: 'insight', value },
  }),
);
const call = { deadline: { signal: new AbortController().signal, remainingMs: () => 60_000 } };
const failureOf = (cause: unknown): never => {
  throw cause;
};

/** Asks the board, and each of its questions of who holds nothing. */
async function expectAlone(
  run: RunQuestion,
  projectId: string,
  board: {
    timezone: string;
    includeCookieless: boolean;
    range: { fromMs: number; toMs: number };
    /** Between the two ranges. */
    gapMs: number;
  },
): Promise<void> {
  const { range, timezone, includeCookieless, gapMs } = board;
  const toMs = range.fromMs - gapMs;
  const time = {
    ...{ timezone, granularity: Granularity.DAY, range },
    previous: { fromMs: toMs - (range.toMs - range.fromMs), toMs },
  };
  const asked = {
    projectId,
    tiles,
    filters: undefined,
    includeCookieless,
    leavesOutBots: false,
    time,
  };
  const results = await answerTiles({ run, call, failureOf }, asked);
  const alone = createRun();
  for (const [index, { content }] of tiles.entries()) {
    if (content.case !== 'insight') throw new Error('a tile asks a question');
    for (const of of ['range', 'previous'] as const) {
      const request = questionOf(content.value, asked, time, time[of]);
      const { result, leftOut } = await alone({ ...call, projectId, request });
      const tile = results[index];
      const answer = of === 'range' ? tile?.outcome.value : tile?.previous;
      expect(answer, `tile ${index}, ${of}, ${timezone}`).toMatchObject({ result, leftOut });
    }
  }
}

it.each([[true], [false]])(
  'users of two ranges, cookieless ones too: %s',
  async (includeCookieless) => {
    const projectId = randomUUID();
    await store(projectId, 1_200);
    const run = createRun();
    let turn = 0;
    const next = (timezone: string) => {
      turn++;
      const fromMs = firstMs + 20 * dayMs - draw.pick([0, 2, 5.75]) * hourMs;
      const toMs = fromMs + 14 * dayMs - turn * draw.pick([900_000, 900_000, 777_777]);
      const gapMs = draw.pick([0, 0, dayMs, 5 * hourMs]);
      return { timezone, includeCookieless, range: { fromMs, toMs }, gapMs };
    };
    const untilHeld = async (timezone: string): Promise<void> => {
      await vi.waitFor(
        async () => {
          await expectAlone(run, projectId, next(timezone));
          expect(readDays.at(-1)).toEqual([]);
        },
        { timeout: 60_000, interval: 20 },
      );
    };
    readDays = [];
    for (const timezone of zones) await untilHeld(timezone);
    await store(projectId, 20);
    for (let question = 0; question < 3; question++) {
      await expectAlone(run, projectId, next(draw.pick(zones)));
    }
    await untilHeld('Europe/Berlin');
    readDays = [];
    await storeProfiles(
      clickhouse,
      [1, 2, 3, 7].map((id) => ({
        ...{ projectId, distinctId: `visitor-${id}`, owner: 'visitor-4', root: 'visitor-4' },
        wasClaimed: true,
      })),
    );
    await expectAlone(run, projectId, next('Europe/Berlin'));
    await storeProfiles(clickhouse, [{ projectId, distinctId: 'visitor-4', deleted: true }], '2');
    for (const timezone of zones) await expectAlone(run, projectId, next(timezone));
    // Another zone's ranges may begin a day earlier, which is not held yet.
    const fromMemory = readDays.filter((own) => Array.isArray(own) && own.length === 0);
    expect(fromMemory.length).toBeGreaterThan(3);
  },
);
