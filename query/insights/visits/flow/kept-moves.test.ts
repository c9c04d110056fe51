// Ways of visits from kept days are those of raw rows: the same questions are asked again with an as_of in the far
// future, for which only rows of events can tell. Many visits go on after midnight, and some days later.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../../platform/clock.ts';
import {
  InsightType,
  UserFlowQuery_NodeKind,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { AskedProject, type AskedSpec } from '../../../../test/harness/insights/asked-project.ts';
import { createDraw } from '../../../../test/harness/insights/random.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import type { StoredRow } from '../../../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const firstMs = Date.parse('2026-10-20T00:00:00Z');
const days = 8;
const hourMs = 3_600_000;
const nowMs = firstMs + 20 * dayMs;
const draw = createDraw(7);
const sessions = Array.from({ length: 150 }, () => draw.uuid());
/** The whole days that statements found kept. */
let keptDays = 0;
/** What happens once, before a statement that reads cells. */
let beforeCells: (() => Promise<void>) | undefined;
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    completeUntilMs: async () => nowMs,
    insightMemoryBytes: 48 * 1_048_576,
    reader: (store) => ({
      async select(select, onRow) {
        const { kept } = select.params;
        if (Array.isArray(kept)) keptDays = kept.length;
        const before = beforeCells;
        if (select.sql.includes('FROM kept_cells FINAL')) {
          beforeCells = undefined;
          await before?.();
        }
        return store.select(select, onRow);
      },
    }),
  });
});
afterAll(() => service.stop());

/** Some events of a visit, minutes or hours apart, some of them in one moment. */
async function storeVisits(project: AskedProject, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => {
    const sessionId = draw.pick(sessions);
    let occurTimeMs = firstMs + draw.below(days * dayMs);
    return Array.from({ length: 1 + draw.below(9) }, () => {
      occurTimeMs += draw.pick([0, 1, 60_000, hourMs, 3 * hourMs]);
      const columns = draw.chance(0.2) ? {} : { pathname: `/${draw.below(9)}` };
      const kind = `kind ${draw.below(4)}`;
      return { sessionId, occurTimeMs, kind, columns };
    });
  });
  await project.store(rows.flat());
}

type Flow = AskedSpec['userFlow'];
const nodeKind = UserFlowQuery_NodeKind.PROPERTY;
/** The range cuts the first and the last. */
const wholeDays = days - 2;

let turn = 0;
/** Answers how many days were kept. */
async function expectAsRows(project: AskedProject, userFlow: Flow = {}): Promise<number> {
  turn++;
  const spec = { insightType: InsightType.USER_FLOW, userFlow };
  const toMs = firstMs + days * dayMs - (1 + (turn % 12)) * hourMs;
  const range = { fromMs: firstMs + 10 * hourMs, toMs };
  const answer = await project.ask(spec, range);
  const kept = keptDays;
  expect(answer).toEqual(await project.askRows(spec, range));
  return kept;
}

async function untilKept(project: AskedProject, userFlow: Flow = {}): Promise<void> {
  for (let again = 0; again < 2; again++) await expectAsRows(project, userFlow);
  expect(await expectAsRows(project, userFlow)).toBe(wholeDays);
}

/** Steps of one visit, a minute apart. */
function steps(startMs: number, ...kinds: string[]): Partial<StoredRow>[] {
  return kinds.map((kind, minute) => ({
    ...{ kind, sessionId: sessions[0] ?? '' },
    occurTimeMs: startMs + minute * 60_000,
  }));
}

describe('ways of visits from kept days', () => {
  const forms: [string, Flow][] = [
    ['by kind', {}],
    ['of one hop, of few nodes', { maxHops: 1, maxNodes: 2 }],
    ['by a property', { nodeKind, nodeProperty: '$pathname', maxHops: 3, maxLinks: 500 }],
    ['of one kind', { nodeKind, nodeProperty: '$pathname', scope: { kind: 'kind 1' } }],
  ];
  it.each(forms)('%s are those of raw rows', async (_, userFlow) => {
    const project = new AskedProject(service);
    for (let change = 0; change < 3; change++) {
      await storeVisits(project, change === 0 ? 200 : 2);
      await untilKept(project, userFlow);
    }
  });

  it('have events that come between the look at kept days and the statement', async () => {
    const project = new AskedProject(service);
    const dayOfBothMs = firstMs + 2 * dayMs;
    await project.store([...steps(dayOfBothMs - dayMs, 'first'), ...steps(dayOfBothMs, 'a', 'b')]);
    await untilKept(project, { maxHops: 1 });
    const late = steps(dayOfBothMs + 30_000, 'c', 'a', 'c');
    beforeCells = () => project.store(late);
    await expectAsRows(project, { maxHops: 1 });
    expect(beforeCells).toBeUndefined();
  });

  it('go on after midnight before the table of visits has the new day', async () => {
    const project = new AskedProject(service);
    const lastDayMs = firstMs + (days - 1) * dayMs;
    await project.store(steps(lastDayMs - 120_000, 'a', 'b'));
    await untilKept(project);
    await project.store(steps(lastDayMs, 'c', 'd'));
    await service.clickhouse.command({
      query: `ALTER TABLE visits DELETE WHERE project_id = {project:String} AND day = toDate({day:UInt16})
        SETTINGS mutations_sync = 2`,
      query_params: { project: project.id, day: lastDayMs / dayMs },
    });
    expect(await expectAsRows(project)).toBe(wholeDays);
  });

  it('may be those of one visit with events without number', async () => {
    const project = new AskedProject(service);
    const moment = `fromUnixTimestamp64Milli(toInt64(${firstMs} + intDiv(number * ${days * dayMs}, 400000)), 'UTC')`;
    await service.clickhouse.command({
      query: `INSERT INTO events (project_id, event_id, kind, distinct_id, cookieless, session_id, occur_time, receive_time)
        SELECT {project:String}, generateUUIDv4(), concat('kind ', toString(number % 7)), 'ada', false,
          {session:UUID}, ${moment}, ${moment} FROM numbers(400000)`,
      query_params: { project: project.id, session: sessions[0] },
    });
    await untilKept(project);
  });
});
