// What a key's statements take of the engine's time. The clock of the turns goes on while a statement is at the store.

import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { systemTimer } from '../timer.ts';
import { Turns } from '../turns.ts';
import { RecentUse } from './recent-use.ts';
import { insightTurnBounds, turnBounds } from './turn-bounds.ts';

const engine = useEngine();
let service: ReadService;
let nowMs = Date.UTC(2026, 5, 1);
let statementMs = 0;
beforeAll(async () => {
  const owners = { use: new RecentUse(() => nowMs) };
  const reader = (store: RowReader): RowReader => ({
    async select(select, onRow) {
      await store.select(select, onRow);
      // Not by the look at what is stored, which runs beside a question: after the key was charged, it would have
      // earned as much again.
      if (!select.sql.includes('project_changes')) nowMs += statementMs;
    },
  });
  service = await startReadService({
    ...{ clickhouseUrl: engine.url, reader, readsPerSecond: 50 },
    clock: { nowMs: () => nowMs },
    turns: new Turns(turnBounds(1), systemTimer, owners),
    insightTurns: new Turns(insightTurnBounds(1), systemTimer, owners),
  });
});
afterAll(() => service?.stop());

const list = 'shared.activity.v1.ActivityService/List';
const query = 'shared.insights.v1.InsightsService/Query';
const question = {
  spec: { insightType: 'INSIGHT_TYPE_TRENDS', events: [{ event: { kind: 'page_view' } }] },
  timeRange: { from: '2026-05-01T00:00:00Z', to: '2026-05-02T00:00:00Z' },
};

it.each([
  ['a list', list, {}],
  ['a question', query, question],
])('%s that took the engine a minute is paid for by its key alone', async (name, method, body) => {
  const [key, other] = [`of ${name}`, `of others than ${name}`];
  statementMs = 60_000;
  expect((await service.post(key, method, body)).status).toBe(200);
  statementMs = 0;
  const refused = await service.post(key, list, {});
  expect([refused.status, refused.text]).toEqual([
    429,
    expect.stringContaining("reads with this key took too much of the engine's time"),
  ]);
  expect((await service.post(other, list, {})).status).toBe(200);
  nowMs += 1_000 * Number(refused.headers.get('retry-after'));
  expect((await service.post(key, list, {})).status).toBe(200);
});
