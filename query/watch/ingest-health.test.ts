// When IngestHealth says that somebody was named: in this project, whatever became of the profile since. The rest is
// test/watch.test.ts's.

import { create } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { IngestHealthRequestSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { ingestHealth } from './ingest-health.ts';

const engine = useEngine();
let clickhouse: DatabaseClient;
beforeAll(() => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});
afterAll(() => clickhouse.close());

const live = {
  refusals: { report: () => ({ refusals: [], counts: [], exclusions: [], sinceMs: 0, untold: 0 }) },
  preflightMs: () => undefined,
};

async function identifyMs(projectId: string): Promise<number | undefined> {
  const request = create(IngestHealthRequestSchema, {});
  const deadline = { signal: AbortSignal.timeout(10_000), remainingMs: () => 10_000 };
  const options = { clickhouse, live, clock: systemClock };
  const { identifyTime } = await ingestHealth(options, projectId, request, deadline);
  return identifyTime && timestampMs(identifyTime);
}

it('is when a profile was last made', async () => {
  const startMs = Date.UTC(2026, 9, 1);
  const person = (distinctId: string, createTimeMs: number) => {
    return { projectId: 'shop', distinctId, createTimeMs };
  };
  await storeProfiles(clickhouse, [person('ada', startMs + 500), person('bob', startMs)]);
  await storeProfiles(clickhouse, [{ ...person('eve', startMs + 900), projectId: 'other' }]);
  expect(await identifyMs('shop')).toBe(startMs + 500);
  expect(await identifyMs('nobody')).toBeUndefined();
  const claimed = { named: false, wasClaimed: true, owner: 'ada', root: 'ada' };
  await storeProfiles(clickhouse, [{ ...person('visitor', startMs + 800), ...claimed }], '2');
  expect(await identifyMs('shop')).toBe(startMs + 500);
  await storeProfiles(clickhouse, [{ ...person('ada', startMs + 500), deleted: true }], '3');
  expect(await identifyMs('shop')).toBe(startMs + 500);
});
