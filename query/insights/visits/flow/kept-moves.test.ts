// Ways of visits from kept days are those of raw rows: the same questions are asked again with an as_of in the far
// future, for which only rows of events can tell. Many visits go on after midnight, and some days later.

import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../../../platform/clock.ts';
import {
  type InsightQuerySpecSchema,
  InsightType,
  UserFlowQuery_NodeKind,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { createDraw } from '../../../../test/harness/insights/random.ts';
import { useEngine } from '../../../../test/harness/servers/use-servers.ts';
import {
  type ReadService,
  startReadService,
} from '../../../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../../../test/harness/tables/stored-events.ts';

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
async function storeVisits(project: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, () => {
    const sessionId = draw.pick(sessions);
    let occurTimeMs = firstMs + draw.below(days * dayMs);
    return Array.from({ length: 1 + draw.below(9) }, () => {
      occurTimeMs += draw.pick([0, 1, 60_000, hourMs, 3 * hourMs]);
      const columns = draw.chance(0.2) ? {} : { pathname: `/${draw.below(9)}` };
      const kind = `kind ${draw.below(4)}`;
      return storedRow({ projectId: project, sessionId, occurTimeMs, kind, columns });
    });
  });
  await storeRows(service.clickhouse, rows.flat());
}

type Asked = Extract<MessageInitShape<typeof InsightQuerySpecSchema>, { $typeName?: never }>;
const nodeKind = UserFlowQuery_NodeKind.PROPERTY;
/** The range cuts the first and the last. */
const wholeDays = days - 2;

let turn = 0;
async function ask(projectId: string, userFlow: Asked['userFlow'], asOfMs?: number) {
  const { result, leftOut } = await service.insights(projectId).query({
    spec: { insightType: InsightType.USER_FLOW, userFlow },
    // Another range each time, so that no answer is kept whole.
    timeRange: {
      from: timestampFromMs(firstMs + 10 * hourMs),
      to: timestampFromMs(firstMs + days * dayMs - (1 + (turn % 12)) * hourMs),
    },
    ...(asOfMs !== undefined && { asOf: timestampFromMs(asOfMs) }),
  });
  return { result, leftOut };
}

/** Answers how many days were kept. */
async function expectRaw(projectId: string, userFlow: Asked['userFlow'] = {}): Promise<number> {
  turn++;
  const answer = await ask(projectId, userFlow);
  const kept = keptDays;
  expect(answer).toEqual(await ask(projectId, userFlow, Date.UTC(2199, 0, 1)));
  return kept;
}

async function untilKept(projectId: string, userFlow: Asked['userFlow'] = {}): Promise<void> {
  for (let again = 0; again < 2; again++) await expectRaw(projectId, userFlow);
  expect(await expectRaw(projectId, userFlow)).toBe(wholeDays);
}

/** Steps of one visit, a minute apart. */
function steps(projectId: string, startMs: number, ...kinds: string[]) {
  return kinds.map((kind, minute) =>
    storedRow({
      ...{ projectId, kind, sessionId: sessions[0] ?? '' },
      occurTimeMs: startMs + minute * 60_000,
    }),
  );
}

describe('ways of visits from kept days', () => {
  const forms: [string, Asked['userFlow']][] = [
    ['by kind', {}],
    ['of one hop, of few nodes', { maxHops: 1, maxNodes: 2 }],
    ['by a property', { nodeKind, nodeProperty: '$pathname', maxHops: 3, maxLinks: 500 }],
    ['of one kind', { nodeKind, nodeProperty: '$pathname', scope: { kind: 'kind 1' } }],
  ];
  it.each(forms)('%s are those of raw rows', async (_, userFlow) => {
    const project = randomUUID();
    for (let change = 0; change < 3; change++) {
      await storeVisits(project, change === 0 ? 200 : 2);
      await untilKept(project, userFlow);
    }
  });

  it('have events that come between the look at kept days and the statement', async () => {
    const project = randomUUID();
    const dayOfBothMs = firstMs + 2 * dayMs;
    await storeRows(service.clickhouse, [
      ...steps(project, dayOfBothMs - dayMs, 'first'),
      ...steps(project, dayOfBothMs, 'a', 'b'),
    ]);
    await untilKept(project, { maxHops: 1 });
    const late = steps(project, dayOfBothMs + 30_000, 'c', 'a', 'c');
    beforeCells = () => storeRows(service.clickhouse, late);
    await expectRaw(project, { maxHops: 1 });
    expect(beforeCells).toBeUndefined();
  });

  it('go on after midnight before the table of visits has the new day', async () => {
    const project = randomUUID();
    const lastDayMs = firstMs + (days - 1) * dayMs;
    await storeRows(service.clickhouse, steps(project, lastDayMs - 120_000, 'a', 'b'));
    await untilKept(project);
    await storeRows(service.clickhouse, steps(project, lastDayMs, 'c', 'd'));
    await service.clickhouse.command({
      query: `ALTER TABLE visits DELETE WHERE project_id = {project:String} AND day = toDate({day:UInt16})
        SETTINGS mutations_sync = 2`,
      query_params: { project, day: lastDayMs / dayMs },
    });
    expect(await expectRaw(project)).toBe(wholeDays);
  });

  it('may be those of one visit with events without number', async () => {
    const project = randomUUID();
    const moment = `fromUnixTimestamp64Milli(toInt64(${firstMs} + intDiv(number * ${days * dayMs}, 400000)), 'UTC')`;
    await service.clickhouse.command({
      query: `INSERT INTO events (project_id, event_id, kind, distinct_id, cookieless, session_id, occur_time, receive_time)
        SELECT {project:String}, generateUUIDv4(), concat('kind ', toString(number % 7)), 'ada', false,
          {session:UUID}, ${moment}, ${moment} FROM numbers(400000)`,
      query_params: { project, session: sessions[0] },
    });
    await untilKept(project);
  });
});
