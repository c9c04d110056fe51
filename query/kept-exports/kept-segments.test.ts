// Kept exports of the persons of segments, on a real engine, a real broker and a real disk: the conditions look at the
// whole range though a file has a day of it, and stay those of the plan whatever becomes of the segment.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type Client,
  ConnectError,
  createClient,
  createRouterTransport,
} from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import type { ResultReader, RowReader } from '../../platform/clickhouse/select-rows.ts';
import { createLog } from '../../platform/log.ts';
import { type Segment, SegmentSchema } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import {
  ExportFormat,
  type ExportQuerySchema,
  ExportState,
  ExportsService,
  ExportWhat,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { eventually } from '../../test/harness/clients/client.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { type KeptExports, openKeptExports } from './start.ts';

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 9, 10, 12);
const engine = useEngine();
const broker = useBroker();
const log = createLog('silent');
const dataDir = mkdtempSync(join(tmpdir(), 'millrace-segments-'));
const projectId = `prj_${randomUUID()}`;
const segmentId = randomUUID();
let nats: NatsConnection;
let clickhouse: DatabaseClient;
let kept: KeptExports;
let exports: Client<typeof ExportsService>;
/** The segment as it is at the moment; undefined once it is deleted. */
let segment: Segment | undefined;
/** Awaited before the engine is asked for a file. */
let beforeFile: () => Promise<void>;

const buyers = (): Segment => {
  const did = { event: { kind: 'buy' }, times: { case: 'atLeast', value: 1 } } as const;
  const tests = [{ test: { case: 'did', value: did } as const }];
  return create(SegmentSchema, { id: segmentId, condition: { groups: [{ tests }] } });
};

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 6 });
  const gated: RowReader & ResultReader = {
    select: clickhouse.select.bind(clickhouse),
    async *stream(...asked) {
      await beforeFile();
      yield* clickhouse.stream(...asked);
    },
  };
  kept = await openKeptExports({
    ...{ nats, clickhouse: oneGroup(gated), dataDir, reserveBytes: 0, log, partRows: 3 },
    authenticate: () => ({ kind: 'refused', code: 'unauthenticated', message: 'no key' }),
    completeUntilMs: async () => startMs,
    callerOf: () => ({ projectId, keyId: 'k', credential: 'private', organizationId: 'org' }),
    project: () => ({ organizationId: 'org', displayName: 'Shop' }),
    mail: { members: () => [], send: async () => ({ kind: 'sent' }) },
    webhooks: { webhooksOf: () => [] },
    publicUrl: () => '',
    clock: { nowMs: () => Date.now() },
    findSegment: async (_, id) => (id === segmentId ? segment : undefined),
  });
  exports = createClient(ExportsService, createRouterTransport(kept.register.bind(kept)));
  // Ada buys on the first day alone; all three are there on each day.
  const people = ['ada', 'ben', 'carl'];
  await storeProfiles(
    clickhouse,
    people.map((distinctId) => ({ projectId, distinctId, createTimeMs: startMs })),
  );
  const row = (distinctId: string, day: number, kind = 'view') =>
    storedRow({ projectId, distinctId, kind, occurTimeMs: startMs + day * dayMs });
  await storeRows(clickhouse, [
    ...[0, 1, 2].flatMap((day) => people.map((id) => row(id, day))),
    row('ada', 0, 'buy'),
    row('ben', 9, 'buy'),
  ]);
});
beforeEach(() => {
  segment = buyers();
  beforeFile = async () => {};
});
afterAll(async () => {
  await kept.stop();
  await clickhouse.close();
  await nats.close();
  rmSync(dataDir, { recursive: true });
});

const events = { what: ExportWhat.EVENTS, format: ExportFormat.NDJSON };
const timeRange = {
  from: timestampFromMs(startMs - dayMs),
  to: timestampFromMs(startMs + 5 * dayMs),
};

async function make(query: MessageInitShape<typeof ExportQuerySchema>) {
  const asked = await exports.create({ query });
  const id = asked.export?.id ?? '';
  const { export: made } = await eventually(
    () => exports.get({ id }),
    (got) => (got.export?.state ?? 0) >= ExportState.READY,
  );
  if (made === undefined) throw new Error('none');
  const file = (name: string): string =>
    readFileSync(join(dataDir, 'exports', projectId, made.id, name), 'utf8');
  const rows = (): Record<string, unknown>[] =>
    made.parts.flatMap(({ name }) =>
      file(name)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    );
  return { made, file, rows };
}

const idsOf = (rows: Record<string, unknown>[]) => rows.map((one) => one['distinct_id']).sort();

it('have the events of each day, though the day alone would not put the person in', async () => {
  const { made, rows, file } = await make({ ...events, timeRange, segments: [segmentId] });
  expect(made).toMatchObject({ state: ExportState.READY, reason: '', rows: 4n });
  expect(idsOf(rows())).toEqual(['ada', 'ada', 'ada', 'ada']);
  expect(JSON.parse(file('manifest.json'))).toMatchObject({
    ...{ segments: [segmentId], not_in_segments: [] },
    segment_conditions: { [segmentId]: { groups: [{ tests: [{ did: { atLeast: 1 } }] }] } },
  });
  const outside = await make({ ...events, timeRange, notInSegments: [segmentId] });
  expect(outside.made.parts.length).toBeGreaterThan(1);
  expect(idsOf(outside.rows())).toEqual(['ben', 'ben', 'ben', 'carl', 'carl', 'carl']);
});

it('have persons, by all of their events', async () => {
  const query = { ...events, what: ExportWhat.PROFILES, segments: [segmentId] };
  const { made, rows } = await make(query);
  expect(made.rows).toBe(2n);
  expect(
    rows()
      .map((one) => one['external_id'])
      .sort(),
  ).toEqual(['ada', 'ben']);
  const activity = await make({ ...query, what: ExportWhat.ACTIVITY });
  expect(activity.made.rows).toBe(2n);
});

it('keep the conditions of their plan, also where the segment is deleted meanwhile', async () => {
  beforeFile = async () => {
    segment = undefined;
  };
  const { made, rows } = await make({ ...events, timeRange, segments: [segmentId] });
  expect(made).toMatchObject({ state: ExportState.READY, rows: 4n });
  expect(idsOf(rows())).toEqual(['ada', 'ada', 'ada', 'ada']);
});

it('name the field of what is wrong, before anything is kept', async () => {
  const refused = async (query: MessageInitShape<typeof ExportQuerySchema>) => {
    try {
      await exports.create({ query: { ...events, ...query } });
      return '';
    } catch (error) {
      return ConnectError.from(error).message;
    }
  };
  const other = randomUUID();
  expect(await refused({ segments: ['x'] })).toBe(
    '[invalid_argument] query.segments[0]: must be the id of a segment, a UUID',
  );
  expect(await refused({ notInSegments: [other] })).toBe(
    `[invalid_argument] query.notInSegments[0]: the project has no segment ${other}: it may have been deleted`,
  );
  const six = Array.from({ length: 6 }, () => randomUUID());
  expect(await refused({ segments: six })).toBe(
    '[invalid_argument] query.segments: takes at most 5',
  );
});
