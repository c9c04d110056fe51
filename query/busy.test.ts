// A read that took too long is told what to do about it: to ask for less where it had the engine, and to ask again
// where it waited for its turn or for the machine.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RowReader, Select } from '../platform/clickhouse/select-rows.ts';
import { createLog } from '../platform/log.ts';
import { ActivityService } from '../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../test/harness/services/read-service.ts';
import { defaultMaxReadMs, startDeadline } from './deadline.ts';
import { maxInsightMs } from './insights/run/run-insight.ts';
import { readFailure } from './read-failure.ts';
import { systemTimer } from './timer.ts';
import { Turns } from './turns.ts';

const engine = useEngine();
let service: ReadService;
/** Statements with this time limit of the engine's end with their reads only. */
let heldSeconds = 0;
/** What the look at the engine's counters answers: seconds of all statements, running and ready to run. */
let counters = [0, 0, 0];
/** Called when a statement is held. */
let onHeld: () => void;
let looks = 0;
/** Stands still within a test: a look counts for all of its reads, and for none of another's. */
let clockMs = 0;

const holding = (store: RowReader): RowReader => ({
  async select(select, onRow) {
    if (select.sql.includes('system.processes')) {
      looks++;
      onRow(JSON.stringify(counters));
    } else if (select.settings['max_execution_time'] === heldSeconds) await untilEnded(select);
    else await store.select(select, onRow);
  },
});

function untilEnded({ signal }: Select): Promise<never> {
  onHeld();
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

const oneAtOnce = {
  ...{ running: 2, runningOfOwner: 1, searches: 1, searchesOfOwner: 1, cores: 2, threads: 1 },
  ...{ waiting: 10, waitingOfOwner: 10, waitMs: 600_000, lingerMs: 1 },
};
const readMs = 2_000;

beforeAll(async () => {
  service = await startReadService({
    ...{ clickhouseUrl: engine.url, reader: holding, readerSeesLooks: true, storeSilenceMs: 20 },
    ...{ maxReadMs: readMs, maxQuestionMs: readMs, nowMs: () => clockMs },
    turns: new Turns(oneAtOnce, systemTimer),
    insightTurns: new Turns(oneAtOnce, systemTimer),
  });
});
afterAll(() => service?.stop());
beforeEach(() => {
  counters = [100, 100, 0];
  looks = 0;
  clockMs += 60_000;
});

const busyText = 'the service is busy, the read is not too large: ask again in 5 seconds';
const busy = {
  ...{ status: 429, retryAfter: '5' },
  answer: { code: 'resource_exhausted', message: busyText },
};
const tooLarge = {
  ...{ status: 504, retryAfter: null },
  answer: { code: 'deadline_exceeded', message: 'the read took too long: ask for less' },
};

async function ask(projectId: string, method: string, body: object) {
  const { status, headers, text } = await service.post(projectId, method, body);
  return { status, retryAfter: headers.get('retry-after'), answer: JSON.parse(text) };
}

const list = (projectId: string) => ask(projectId, 'shared.activity.v1.ActivityService/List', {});
const question = (projectId: string, kind: string) =>
  ask(projectId, 'shared.insights.v1.InsightsService/Query', {
    spec: {
      insightType: 'INSIGHT_TYPE_TRENDS',
      events: [{ event: { kind }, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }],
    },
    timeRange: { from: '2026-10-01T00:00:00Z', to: '2026-10-02T00:00:00Z' },
  });

it.each([
  ['a read', defaultMaxReadMs, list, list],
  [
    'a question',
    maxInsightMs,
    (projectId: string) => question(projectId, 'large'),
    (projectId: string) => question(projectId, 'small'),
  ],
])('%s that waits behind a large one is told to ask again', async (name, limitMs, large, small) => {
  heldSeconds = limitMs / 1_000;
  const projectId = `prj_turns_${name}`;
  const isHeld = new Promise<void>((resolve) => {
    onHeld = resolve;
  });
  const first = large(projectId);
  await isHeld;
  expect(await Promise.all([first, small(projectId)])).toEqual([tooLarge, busy]);
});

it('two that wait for one run are told the same', async () => {
  heldSeconds = maxInsightMs / 1_000;
  const isHeld = new Promise<void>((resolve) => {
    onHeld = resolve;
  });
  const first = question('prj_shared', 'same');
  await isHeld;
  const second = question('prj_shared', 'same');
  expect(await Promise.all([first, second])).toEqual([tooLarge, tooLarge]);
});

it('a read whose statement hardly gets the processor is told to ask again', async () => {
  heldSeconds = defaultMaxReadMs / 1_000;
  onHeld = () => {};
  counters = [10, 3, 4];
  let answer: unknown;
  // Where the machine is so busy that its statement has hardly begun, a read ends before the store was looked at.
  do answer = await list('prj_starved');
  while (looks === 0);
  expect(answer).toEqual(busy);
});

it("a caller's own time limit stays a deadline, and says why", () => {
  const { signal } = new AbortController();
  const call = { signal, method: ActivityService.method.list };
  const failureOf = (timeoutMs: number | undefined, isStarved: boolean) => {
    const deadline = startDeadline({ ...call, timeoutMs: () => timeoutMs }, 0);
    const ended = { ...deadline, signal: AbortSignal.abort(), limitMs: 1 };
    const parts = { isStarved: () => isStarved, log: createLog('silent') };
    const { rawMessage, metadata } = readFailure(ended.signal.reason, call, ended, parts);
    return [rawMessage, metadata.get('retry-after')];
  };
  expect(failureOf(0, false)).toEqual([`${busyText}, or allow more time`, '5']);
  expect(failureOf(undefined, true)).toEqual([busyText, '5']);
});
