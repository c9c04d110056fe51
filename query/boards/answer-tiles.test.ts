// The tiles of the overview board have the answers of the same questions asked one by one, and those that ask for the
// same share a statement.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import type { Select } from '../../platform/clickhouse/select-rows.ts';
import { systemClock } from '../../platform/clock.ts';
import { overviewDashboard } from '../../platform/dashboards/overview-dashboard.ts';
import { createLog } from '../../platform/log.ts';
import {
  DashboardsService,
  TileSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { engineTimeOf } from '../calls/engine-time.ts';
import { insightTurnBounds, turnBounds } from '../calls/turn-bounds.ts';
import { startDeadline } from '../deadline.ts';
import { exactText } from '../filters/bindings.ts';
import { createRunQuestion, type RunQuestion } from '../insights/query-insight.ts';
import { unlessLeft } from '../insights/run/single-flight.ts';
import { readFailure } from '../read-failure.ts';
import { systemTimer } from '../timer.ts';
import { Turns } from '../turns.ts';
import { answerTiles } from './answer-tiles.ts';
import { questionOf } from './question.ts';

const engine = useEngine();
const project = randomUUID();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Berlin's clocks go back on the 25th. */
const firstMs = Date.parse('2026-10-18T00:00:00Z');
let clickhouse: ReturnType<typeof createClickHouse>;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 10 });
  const rows = Array.from({ length: 400 }, (_, index) => {
    const sessionId = randomUUID();
    return Array.from({ length: 1 + (index % 3) }, (__, place) =>
      storedRow({
        projectId: project,
        sessionId,
        distinctId: `visitor-${index % 60}`,
        cookieless: index % 7 === 0,
        kind: (index + place) % 4 === 0 ? 'click' : 'page_view',
        occurTimeMs: firstMs + ((index * 37) % 350) * hourMs + place * 9 * hourMs,
        columns: {
          pathname: `/${(index + place) % 14}`,
          country: ['DE', 'FR', ''][index % 3] ?? '',
        },
      }),
    );
  });
  await storeRows(clickhouse, rows.flat());
  await storeProfiles(clickhouse, [
    { projectId: project, distinctId: 'visitor-1', owner: 'visitor-2', root: 'visitor-2' },
    { projectId: project, distinctId: 'visitor-3', deleted: true },
  ]);
});
afterAll(() => clickhouse.close());

const berlin = { granularity: Granularity.DAY, timezone: 'Europe/Berlin', weekStart: 1 };
const fromMs = firstMs + 7 * dayMs - 2 * hourMs;

const { signal } = new AbortController();
const call = { deadline: { signal, remainingMs: () => 60_000 } };
const failureOf = (cause: unknown): never => {
  throw cause;
};

it.each([
  ['whole days, and so many before', berlin, fromMs, fromMs + 5 * dayMs, fromMs],
  // The range before begins on a UTC day on which another day begins in Berlin, and ends before the range.
  ['a part of a day before', berlin, fromMs, fromMs + 5 * dayMs + hourMs + 60_000, fromMs],
  ['a gap', berlin, fromMs, fromMs + 3 * dayMs + 123_456, fromMs - 2 * dayMs],
  ['no whole quarters', berlin, fromMs + 1, fromMs + 2 * dayMs, fromMs],
  ['hours', { ...berlin, granularity: Granularity.HOUR }, fromMs, fromMs + dayMs, fromMs],
])('the tiles of %s', async (_, time, rangeFromMs, toMs, previousToMs) => {
  const lengthMs = toMs - rangeFromMs;
  const board = {
    projectId: project,
    tiles: overviewDashboard().tiles,
    filters: undefined,
    includeCookieless: true,
    leavesOutBots: false,
    time: {
      ...time,
      range: { fromMs: rangeFromMs, toMs },
      previous: { fromMs: previousToMs - lengthMs, toMs: previousToMs },
    },
  };
  const ran: string[] = [];
  const onSelect = ({ sql, params }: Select) => void ran.push(exactText([sql, params]));
  const results = await answerTiles({ run: newRun(onSelect), call, failureOf }, board);
  // The tiles ask 21 questions. Those of visits, bounces and durations are one in each range.
  expect(ran).toHaveLength(17);
  expect(new Set(ran).size).toBe(17);
  for (const [index, tile] of board.tiles.entries()) {
    if (tile.content.case !== 'insight') continue;
    const { value: spec } = tile.content;
    const ask = (range: typeof board.time.range) =>
      newRun()({ ...call, projectId: project, request: questionOf(spec, board, time, range) });
    const { result, leftOut } = await ask(board.time.range);
    const answer = results[index];
    expect(answer?.outcome.value, tile.id).toMatchObject({ result, leftOut });
    if (!tile.compareToPrevious) continue;
    const previous = await ask(board.time.previous);
    expect(answer?.previous?.result, tile.id).toEqual(previous.result);
  }
});

it('tiles are answered alone where what lies before begins before 1970', async () => {
  const range = { fromMs: 0, toMs: 300 * dayMs };
  const board = {
    ...{ projectId: project, tiles: overviewDashboard().tiles },
    ...{ filters: undefined, includeCookieless: false, leavesOutBots: false },
    time: { ...berlin, range, previous: { fromMs: -range.toMs, toMs: 0 } },
  };
  const results = await answerTiles({ run: newRun(), call, failureOf }, board);
  expect(results.filter(({ previous }) => previous !== undefined)).toEqual([]);
});

it('a tile that waited while another had the engine is told so, and the other to ask for less', async () => {
  const context = { signal, timeoutMs: () => undefined, method: DashboardsService.method.render };
  const deadline = startDeadline(context, 1_000);
  const tiles = ['large', 'small'].map((id) =>
    create(TileSchema, { id, content: { case: 'insight', value: { breakdownLimit: id.length } } }),
  );
  const range = { fromMs, toMs: fromMs + dayMs };
  const board = {
    ...{
      projectId: project,
      tiles,
      filters: undefined,
      includeCookieless: false,
      leavesOutBots: false,
    },
    time: { ...berlin, range, previous: range },
  };
  let asked = 0;
  const run: RunQuestion = async ({ deadline: { signal: ending } }) => {
    if (asked++ === 0) engineTimeOf(ending).begin();
    return unlessLeft(new Promise(() => {}), ending);
  };
  const parts = { isStarved: () => false, log: createLog('silent') };
  const results = await answerTiles(
    {
      ...{ run, call: { deadline } },
      failureOf: (cause, ending) =>
        readFailure(cause, context, { ...deadline, signal: ending }, parts),
    },
    board,
  );
  const errors = results.map(({ tileId, outcome }) => {
    const error = outcome.case === 'error' ? outcome.value : undefined;
    return [tileId, error?.code, error?.retryAfterSeconds];
  });
  expect(errors).toEqual([
    ['large', 'deadline_exceeded', undefined],
    ['small', 'resource_exhausted', 5],
  ]);
});

/** Keeps nothing of what others asked. `onSelect` is told each question's own statement. */
function newRun(onSelect: (select: Select) => void = () => {}) {
  return createRunQuestion({
    clickhouse: {
      select: async (select, onRow) => {
        const isLook = /^INSERT|\b(kept_days|project_changes)\b/.test(select.sql);
        if (!isLook) onSelect(select);
        return clickhouse.select(select, onRow);
      },
    },
    completeUntilMs: async () => systemClock.nowMs(),
    clock: systemClock,
    turns: new Turns(turnBounds(1), systemTimer),
    insightTurns: new Turns(insightTurnBounds(1), systemTimer),
    // Rows of a young version are kept for a second: here it does not pass.
    nowMs: () => 0,
  });
}
