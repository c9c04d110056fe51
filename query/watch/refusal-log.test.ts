// Refusals of projects in memory: the last ones, counts by rule and hour, and from when on they are known.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { createLog } from '../../platform/log.ts';
import { encodeExclusions } from '../../proto/wire/live/exclusion-message.ts';
import { encodeRefusal, untoldRefusals } from '../../proto/wire/live/refusal-message.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { RefusalLog } from './refusal-log.ts';

const broker = useBroker();
let nats: NatsConnection;
beforeAll(async () => {
  nats = await connectBroker(broker.url, createLog('silent'));
});
afterAll(() => nats.close());

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 1, 12);

function tell(projectId: string, rule: string, timeMs: number, untold = 0, field = 'f'): void {
  const names = { method: 'm', field, kind: 'größer 😀', sdk: '' };
  const message = encodeRefusal({ ...names, rule, timeMs, untold, eventIndex: 2 });
  nats.publish(`refused.${projectId}`, message);
}

it('keeps the last two hundred and the counts of a day', async () => {
  let nowMs = startMs;
  const log = new RefusalLog(nats, { nowMs: () => nowMs });
  const projectId = randomUUID();
  expect(log.report(projectId)).toEqual({
    ...{ refusals: [], counts: [], exclusions: [] },
    ...{ sinceMs: startMs, untold: 0 },
  });
  for (let count = 0; count < 201; count++) tell(projectId, 'uuid', startMs);
  nowMs += hourMs;
  tell(projectId, 'kind_pattern', nowMs, 7);
  tell(randomUUID(), 'other', nowMs);
  nats.publish(`refused.${projectId}`, 'junk');
  nats.publish(`refused.${projectId}`, encodeRefusal(untoldRefusals(nowMs, 3)));
  await nats.flush();
  const report = log.report(projectId);
  expect(report.refusals).toHaveLength(200);
  expect(report.refusals[0]).toMatchObject({
    ...{ rule: 'kind_pattern', eventIndex: 2, method: 'm', field: 'f', kind: 'größer 😀' },
    time: { seconds: BigInt(nowMs / 1_000) },
  });
  expect(report.counts).toMatchObject([
    { rule: 'kind_pattern', requests: 1n, hour: { seconds: BigInt((startMs + hourMs) / 1_000) } },
    { rule: 'uuid', requests: 201n, hour: { seconds: BigInt(startMs / 1_000) } },
  ]);
  expect([report.untold, report.sinceMs]).toEqual([10, startMs]);
  nowMs = startMs + 24 * hourMs;
  expect(log.report(projectId).counts).toMatchObject([{ rule: 'kind_pattern' }]);
  log.close();
});

it('counts the events that were left out by rule and hour, beside refusals', async () => {
  const log = new RefusalLog(nats, { nowMs: () => startMs });
  const projectId = randomUUID();
  const exclude = (timeMs: number, excluded: Record<string, number>) =>
    nats.publish(`refused.${projectId}`, encodeExclusions({ timeMs, excluded }));
  exclude(startMs, { excluded_path: 3, excluded_network: 20 });
  exclude(startMs + 1, { excluded_path: 4 });
  exclude(startMs + hourMs, { excluded_path: 1 });
  exclude(startMs, { other: 9 });
  tell(projectId, 'uuid', startMs);
  await nats.flush();
  const { exclusions, counts, refusals } = log.report(projectId);
  const hour = (ms: number) => ({ seconds: BigInt(ms / 1_000) });
  expect(exclusions).toMatchObject([
    { rule: 'excluded_path', events: 1n, hour: hour(startMs + hourMs) },
    { rule: 'excluded_network', events: 20n, hour: hour(startMs) },
    { rule: 'excluded_path', events: 7n, hour: hour(startMs) },
  ]);
  expect(counts).toMatchObject([{ rule: 'uuid', requests: 1n }]);
  expect(refusals).toHaveLength(1);
  log.close();
});

it('forgets the project that was refused longest ago, and says since when it knows', async () => {
  let nowMs = startMs;
  const log = new RefusalLog(nats, { nowMs: () => nowMs });
  const ids = Array.from({ length: 1_000 }, () => randomUUID());
  for (const id of ids) tell(id, 'uuid', startMs);
  await nats.flush();
  const [first = '', second = ''] = ids;
  tell(first, 'uuid', startMs);
  await nats.flush();
  nowMs += 5_000;
  tell(randomUUID(), 'uuid', nowMs);
  await nats.flush();
  expect(log.report(first)).toMatchObject({ sinceMs: startMs, refusals: [{}, {}] });
  expect(log.report(second)).toMatchObject({ sinceMs: nowMs, refusals: [] });
  log.close();
});

it('takes 32 MiB at most: then projects are forgotten earlier', async () => {
  const log = new RefusalLog(nats, { nowMs: () => startMs });
  const ids = Array.from({ length: 850 }, () => randomUUID());
  for (const id of ids) {
    for (let count = 0; count < 200; count++) tell(id, 'uuid', startMs, 0, 'x'.repeat(200));
    await nats.flush();
  }
  expect(log.report(ids.at(-1) ?? '').refusals).toHaveLength(200);
  expect(log.report(ids.at(0) ?? '').refusals).toEqual([]);
  expect(log.bytes).toBeGreaterThan(31 * 1_048_576);
  expect(log.bytes).toBeLessThanOrEqual(32 * 1_048_576);
  log.close();
});
