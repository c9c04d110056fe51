// A store whose profiles an older version merged though they were deleted, and a writer that starts on it: rows as that
// version wrote them, and what questions answer before and after.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  AggregationType,
  InsightType,
  LeftOut_Reason,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  identify,
  type ProfileShard,
  startProfileShard,
} from '../../test/harness/services/profile-shard.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { blockOf, insertBlock } from './insert-block.ts';
import { loadRecords } from './read-records.ts';
import { newRecord, type ProfileRecord } from './record.ts';
import { ProfileTraits } from './traits.ts';

const startMs = Date.UTC(2026, 9, 1);
let shard: ProfileShard;
let service: ReadService;
beforeAll(async () => {
  shard = await startProfileShard();
  service = await startReadService({ clickhouseUrl: shard.clickhouseUrl });
});
afterAll(async () => {
  await service?.stop();
  await shard?.stop();
});

type Fields = Partial<ProfileRecord>;
const named: Fields = { named: true, createTimeMs: startMs, updateTimeMs: startMs };
const gone: Fields = { deleted: true };
const merged = (owner: string, minute: number, root = owner): Fields => ({
  ...{ owner, root, mergeTimeMs: startMs + minute * 60_000, mergeSource: 'alias' },
  wasClaimed: true,
});

async function store(projectId: string, records: Record<string, Fields>): Promise<void> {
  const rows = Object.entries(records).map(([distinctId, fields]) => ({
    ...newRecord(projectId, distinctId),
    ...fields,
  }));
  await insertBlock(shard.clickhouse, blockOf(rows, 0, '1'));
  const events = rows.map(({ distinctId }) =>
    storedRow({ projectId, distinctId, occurTimeMs: startMs }),
  );
  await storeRows(shard.clickhouse, events);
}

/** Users of page views, and the events that no user has. */
async function users(projectId: string): Promise<[number, bigint]> {
  const { result, leftOut } = await service.insights(projectId).query({
    spec: {
      insightType: InsightType.SEGMENTATION,
      events: [{ event: { kind: 'page_view' }, aggregation: AggregationType.UNIQUE_USERS }],
    },
    timeRange: { from: timestampFromMs(startMs), to: timestampFromMs(startMs + 86_400_000) },
  });
  const deleted = leftOut.find(({ reason }) => reason === LeftOut_Reason.DELETED_PROFILES);
  const total = result.case === 'segmentation' ? result.value.total : undefined;
  return [total ?? -1, deleted?.count ?? 0n];
}

it('takes out who was deleted before the merge, with the members of then, and nobody else', async () => {
  const plan = ['plan', '"pro"'] as const;
  const given = new ProfileTraits();
  given.inherit(plan, 'dan');
  await store('old', {
    // Deleted with anon-1 as its member; then an Alias made it ann's, and another one made ann carl's.
    gone: { ...named, ...gone, ...merged('ann', 2, 'carl') },
    'anon-1': { ...named, ...merged('gone', 1, 'carl') },
    ann: { ...named, ...merged('carl', 4) },
    carl: { ...named, traits: given, members: 4 },
    // An Alias named anon-1 when that was ann's.
    dan: { ...named, ...merged('anon-1', 3, 'carl'), traits: new ProfileTraits([plan]) },
    // Deleted, and then claimed by an Identify of bob.
    'anon-2': { ...gone, ...merged('bob', 1) },
    bob: { ...named, members: 1 },
    // Deleted with its member.
    yan: { ...named, ...gone, members: 1 },
    'anon-3': merged('yan', 1),
  });
  expect(await users('old')).toEqual([2, 2n]);
  const writer = shard.startWriter();
  await writer.done(1);
  const rest = ['ann into carl', 'anon-1 into gone', 'anon-3 into yan'];
  expect(await shard.merged('old')).toEqual(rest);
  // Carl with ann, Dan and Bob; without gone, anon-1, anon-2, yan and anon-3.
  expect(await users('old')).toEqual([3, 5n]);
  expect(await shard.traitsOf('old', 'carl')).toEqual({});
  expect(await shard.traitsOf('old', 'dan')).toEqual({ plan: '"pro"' });
  expect(await shard.listed('old')).toEqual(['bob', 'carl', 'dan']);
  const [carl] = await loadRecords(shard.clickhouse, [{ projectId: 'old', distinctId: 'carl' }]);
  expect(carl?.members).toBe(1);
  // Its own Identify brings it back, with the member that it had.
  await writer.done(await shard.publish('old', identify('gone', [])));
  expect(await users('old')).toEqual([4, 3n]);
  await writer.stop();
});

it('takes out thousands, and queues nothing at the next start', async () => {
  const ids = Array.from({ length: 1_500 }, (_, number) => `id ${number}`);
  const deleted = ids.map((id) => [id, { ...named, ...gone, ...merged('ann', 1) }]);
  await store('many', { ann: { ...named, members: 1_500 }, ...Object.fromEntries(deleted) });
  expect(await users('many')).toEqual([1, 0n]);
  const seq = await shard.lastSeq();
  const writer = shard.startWriter();
  await writer.done(seq + 2);
  await writer.stop();
  expect(await users('many')).toEqual([1, 1_500n]);
  await shard.apply('many', true, identify('bob', []));
  expect(await shard.lastSeq()).toBe(seq + 3);
});

it('leaves an id merged that is not deleted any more', async () => {
  await store('back', { ann: { ...named, members: 1 }, gone: { ...named, ...merged('ann', 1) } });
  await shard.apply('back', true, { kind: 'separate', distinctId: 'gone' });
  expect(await shard.merged('back')).toEqual(['gone into ann']);
});
