// A report's record has a bound in bytes: what it holds of the longest addresses and reasons, of most recipients and
// runs, fits into its bucket on a real broker.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { buckets, recordQuotaBytes } from '../broker/buckets.ts';
import { connectBroker } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import { ensureTopology } from '../broker/topology.ts';
import { createLog } from '../log.ts';
import {
  maxFailuresKept,
  maxRuns,
  type ReportStateRecord,
  type RunRecord,
  readReportState,
  withinBounds,
} from './report-state.ts';

const maxRecipients = 20;
const broker = useBroker();
let connection: Awaited<ReturnType<typeof connectBroker>>;
beforeAll(async () => {
  connection = await connectBroker(broker.url, createLog('silent'));
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
});
afterAll(() => connection.close());

/** An address of 254 characters of three bytes each, and a reason of 120 that JSON writes as six. */
const failureOf = (index: number) => ({
  to: `${String(index).padStart(3, '0')}${'年'.repeat(251)}`,
  reason: '\u0001'.repeat(120),
});
const failures = (count: number) => Array.from({ length: count }, (_, index) => failureOf(index));

function runOf(day: number, fields: Partial<RunRecord>): RunRecord {
  const ms = Number.MAX_SAFE_INTEGER;
  return {
    ...{ id: randomUUID(), day, dueMs: ms, beginMs: ms, fromMs: ms, toMs: ms },
    ...{ previousFromMs: ms, leftOut: 1_000, isDone: true, isIncomplete: true },
    ...{ sentTo: [], sent: 0, failures: failures(maxFailuresKept), failed: maxRecipients },
    ...{ tries: 1_000, nextTryMs: ms, problem: '\u0001'.repeat(120), endMs: ms },
    ...fields,
  };
}

const recordOf = (runs: readonly RunRecord[]): ReportStateRecord => ({
  ...{ schemaVersion: 1, reportId: randomUUID(), runs, leaseEndMs: Number.MAX_SAFE_INTEGER },
});
const bytesOf = (record: ReportStateRecord): number => Buffer.byteLength(JSON.stringify(record));

it('the largest record is written with its newest run whole, and the older ones as far as they fit', async () => {
  const older = Array.from({ length: maxRuns - 1 }, (_, day) => runOf(day, {}));
  const open = runOf(maxRuns, { isDone: false, failures: failures(maxRecipients) });
  const largest = recordOf([...older, open]);
  expect(bytesOf(largest)).toBeGreaterThan(2 * recordQuotaBytes.report_states);
  const kept = withinBounds(largest);
  expect(bytesOf(kept)).toBeLessThanOrEqual(recordQuotaBytes.report_states);
  expect(kept.runs.at(-1)).toEqual(open);
  const bucket = await openBucket(connection, buckets.reportStates, readReportState);
  await bucket.create('p.0', kept);
  expect(await bucket.get('p.0')).toMatchObject({ kind: 'found', record: kept });
});

it('twenty runs of usual failures stay, and lose the oldest lists where addresses are long', () => {
  const usual = Array.from({ length: maxRuns }, (_, day) =>
    runOf(day, {
      failures: [{ to: 'eve@elsewhere.example', reason: 'the mail server refuses the mail' }],
      problem: '',
    }),
  );
  expect(withinBounds(recordOf(usual)).runs).toEqual(usual);
  const address = `${'e'.repeat(242)}@example.com`;
  const long = usual.map((run) => ({
    ...run,
    failures: Array.from({ length: maxFailuresKept }, () => ({
      ...{ to: address, reason: 'r'.repeat(120) },
    })),
  }));
  const kept = withinBounds(recordOf(long));
  expect(bytesOf(kept)).toBeLessThanOrEqual(recordQuotaBytes.report_states);
  expect(kept.runs.map(({ id, failed }) => [id, failed])).toEqual(
    long.map(({ id, failed }) => [id, failed]),
  );
  const lists = kept.runs.map((run) => run.failures.length);
  expect(lists.at(0)).toBe(0);
  expect(lists.at(-1)).toBe(maxFailuresKept);
  expect(lists.toSorted((one, other) => one - other)).toEqual(lists);
});
