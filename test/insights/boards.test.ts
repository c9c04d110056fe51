// The questions of a board share what they look up: each must be answered as it is answered alone.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { dayMs, systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import {
  AggregationType,
  Granularity,
  InsightType,
  type QueryRequest,
  QueryRequestSchema,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { insightTurnBounds, turnBounds } from '../../query/calls/turn-bounds.ts';
import { createRunQuestion, type RunQuestion } from '../../query/insights/query-insight.ts';
import { AskedTogether } from '../../query/insights/run/asked-together.ts';
import { systemTimer } from '../../query/timer.ts';
import { Turns } from '../../query/turns.ts';
import type { AskedSpec } from '../harness/insights/asked-project.ts';
import { createDraw, type Draw } from '../harness/insights/random.ts';
import { useEngine } from '../harness/servers/use-servers.ts';
import { storedRow, storeRows } from '../harness/tables/stored-events.ts';

const engine = useEngine();
const projectId = randomUUID();
const seed = 11;
const boards = 45;
const firstMs = Date.UTC(2026, 9, 18);
const days = 14;
let clickhouse: DatabaseClient;

const createRun = (): RunQuestion =>
  createRunQuestion({
    clickhouse,
    completeUntilMs: async () => undefined,
    clock: systemClock,
    turns: new Turns(turnBounds(1), systemTimer),
    insightTurns: new Turns(insightTurnBounds(1), systemTimer),
  });

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 10 });
  const draw = createDraw(seed);
  const rows = Array.from({ length: 150 }, () => {
    const sessionId = draw.uuid();
    const startMs = firstMs + draw.below(days * dayMs);
    return Array.from({ length: 1 + draw.below(5) }, (_, place) =>
      storedRow({
        ...{ projectId, sessionId, eventId: draw.uuid() },
        distinctId: `visitor-${draw.below(30)}`,
        kind: draw.pick(['page_view', 'page_view', 'click', 'signup']),
        occurTimeMs: startMs + place * draw.pick([1_000, 600_000, 5 * 3_600_000]),
        columns: {
          pathname: draw.pick(['/a', '/b', '']),
          channel: draw.pick(['Direct', 'Paid Search', '']),
        },
      }),
    );
  });
  await storeRows(clickhouse, rows.flat());
});

afterAll(() => clickhouse?.close());

function visits(draw: Draw): AskedSpec {
  const metric = draw.pick([
    SessionMetric.SESSIONS,
    SessionMetric.AVG_DURATION,
    SessionMetric.BOUNCE_RATE,
    SessionMetric.ENTRY,
    SessionMetric.EXIT,
  ]);
  const isEdge = metric === SessionMetric.ENTRY || metric === SessionMetric.EXIT;
  const kind = isEdge ? draw.pick(['', 'click', 'page_view']) : '';
  return {
    session: { metric, ...(kind !== '' && { scope: { kind } }) },
    ...(draw.chance(0.3) && { breakdowns: [{ property: draw.pick(['$pathname', '$channel']) }] }),
  };
}

function series(draw: Draw): AskedSpec {
  const aggregations = [AggregationType.TOTAL, AggregationType.UNIQUE_USERS];
  return {
    events: Array.from({ length: 1 + draw.below(2) }, () => ({
      event: { kind: draw.pick(['', '', 'page_view', 'click', 'never']) },
      aggregation: draw.pick(aggregations),
    })),
    ...(draw.chance(0.1) && { breakdowns: [{ property: '$channel' }] }),
  };
}

function drawBoard(draw: Draw): QueryRequest[] {
  const form = draw.pick([visits, series]);
  const timezone = draw.pick(['UTC', 'Europe/Berlin', 'Asia/Kolkata']);
  return Array.from({ length: 2 + draw.below(4) }, () => {
    const spec = draw.chance(0.8) ? form(draw) : draw.pick([visits, series])(draw);
    const half = draw.below(2) * (days / 2);
    return create(QueryRequestSchema, {
      spec: { ...spec, insightType: draw.pick([InsightType.TRENDS, InsightType.SEGMENTATION]) },
      timeRange: {
        from: timestampFromMs(firstMs + half * dayMs),
        to: timestampFromMs(firstMs + (half + days / 2) * dayMs),
      },
      granularity: Granularity.DAY,
      timezone,
    });
  });
}

it(`${boards} boards answer each question as it is answered alone`, async () => {
  const draw = createDraw(seed);
  const [ofBoard, ofOne] = [createRun(), createRun()];
  const deadline = { signal: new AbortController().signal, remainingMs: () => 60_000 };
  for (let board = 0; board < boards; board++) {
    const requests = drawBoard(draw);
    const together = new AskedTogether();
    const answer = async (run: RunQuestion, request: QueryRequest, more = {}) => {
      const { result, leftOut } = await run({ projectId, request, deadline, ...more });
      return { result, leftOut };
    };
    const shared = await Promise.all(
      requests.map((request) => answer(ofBoard, request, { together })),
    );
    const alone = await Promise.all(requests.map((request) => answer(ofOne, request)));
    expect(shared, `board ${board}`).toEqual(alone);
  }
});
