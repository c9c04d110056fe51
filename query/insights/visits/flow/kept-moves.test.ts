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
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
    completeUntilMs: async () => nowMs,
    reader: (store) => ({
      select(select, onRow) {
        const { kept } = select.params;
        if (Array.isArray(kept)) keptDays = kept.length;
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

describe('ways of visits', () => {
  const forms: [string, Asked['userFlow']][] = [
    ['by kind', {}],
    ['of one hop, of few nodes', { maxHops: 1, maxNodes: 2 }],
    ['by a property', { nodeKind, nodeProperty: '$pathname', maxHops: 3, maxLinks: 500 }],
    ['of one kind', { nodeKind, nodeProperty: '$pathname', scope: { kind: 'kind 1' } }],
  ];
  it.each(forms)('%s from kept days are those of raw rows', async (_, userFlow) => {
    const project = randomUUID();
    const insights = service.insights(project);
    let turn = 0;
    const ask = async (asOfMs?: number) => {
      const { result, leftOut } = await insights.query({
        spec: { insightType: InsightType.USER_FLOW, userFlow },
        timeRange: {
          from: timestampFromMs(firstMs + 10 * hourMs),
          to: timestampFromMs(firstMs + days * dayMs - turn * hourMs),
        },
        ...(asOfMs !== undefined && { asOf: timestampFromMs(asOfMs) }),
      });
      return { result, leftOut };
    };
    const expectRaw = async (): Promise<void> => {
      turn++;
      const answer = await ask();
      const kept = keptDays;
      expect(answer).toEqual(await ask(Date.UTC(2199, 0, 1)));
      keptDays = kept;
    };
    for (let change = 0; change < 3; change++) {
      await storeVisits(project, change === 0 ? 200 : 2);
      for (let again = 0; again < 3; again++) await expectRaw();
      expect(keptDays).toBe(days - 2);
    }
  });
});
