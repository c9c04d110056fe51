// ActivityService.List on a real engine: the events that a request selects, and pages while events arrive. Rules of
// requests are activity-selection.test.ts's.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import type { ActivityEvent } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';

const startMs = Date.UTC(2026, 9, 10, 12);

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
});
afterAll(async () => {
  await service?.stop();
});

function newProject(): string {
  return `prj_${randomUUID()}`;
}

type Request = Parameters<ReturnType<ReadService['activity']>['list']>[0];

function list(projectId: string, request: Request = {}) {
  return service.activity(projectId).list(request);
}

async function ids(projectId: string, request: Request = {}): Promise<string[]> {
  return (await list(projectId, request)).events.map(({ eventId }) => eventId);
}

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => ConnectError.from(error),
  );
}

/** Reads all pages and returns their events; runs `between` after each page but the last. */
async function walk(
  projectId: string,
  request: Exclude<Request, undefined>,
  between: (page: number) => Promise<void> = async () => {},
): Promise<ActivityEvent[]> {
  const events: ActivityEvent[] = [];
  let pageToken = '';
  for (let page = 0; page < 1_000; page++) {
    const answer = await list(projectId, { ...request, pageToken });
    events.push(...answer.events);
    pageToken = answer.nextPageToken;
    if (pageToken === '') return events;
    await between(page);
  }
  throw new Error('a walk without end');
}

describe('a request selects', () => {
  const projectId = newProject();
  const session = randomUUID();
  const rows = {
    first: storedRow({ projectId, distinctId: 'anna', occurTimeMs: startMs }),
    second: storedRow({ projectId, distinctId: 'anna', kind: 'click', occurTimeMs: startMs + 1 }),
    third: storedRow({
      projectId,
      distinctId: 'bert',
      sessionId: session,
      occurTimeMs: startMs + 2,
    }),
    old: storedRow({
      projectId,
      distinctId: 'bert',
      kind: 'signup',
      occurTimeMs: startMs - 900 * dayMs,
    }),
    ancient: storedRow({ projectId, distinctId: 'anna', occurTimeMs: Date.UTC(2000, 0, 1) }),
    future: storedRow({ projectId, distinctId: 'cleo', occurTimeMs: Date.now() + 2 * dayMs }),
    nobody: storedRow({
      projectId,
      distinctId: 'cookieless-x',
      cookieless: true,
      occurTimeMs: startMs + 3,
    }),
  };
  const named = async (request: Request) => {
    const names = new Map(Object.entries(rows).map(([name, { eventId }]) => [eventId, name]));
    return (await ids(projectId, request)).map((id) => names.get(id) ?? id);
  };
  beforeAll(async () => {
    await storeRows(service.clickhouse, Object.values(rows));
    await storeRows(service.clickhouse, [
      storedRow({ projectId: newProject(), distinctId: 'anna', sessionId: session }),
    ]);
  });

  it('all events of the project, newest first, of any time', async () => {
    const all = ['future', 'nobody', 'third', 'second', 'first', 'old', 'ancient'];
    expect(await named({})).toEqual(all);
  });

  it('events of a distinct id', async () => {
    expect(await named({ distinctId: 'anna' })).toEqual(['second', 'first', 'ancient']);
    expect(await named({ distinctId: 'cookieless-x' })).toEqual(['nobody']);
    expect(await named({ distinctId: 'Anna' })).toEqual([]);
  });

  it('events of a profile, which no cookieless visitor has', async () => {
    const { events } = await list(projectId);
    const profileOf = (distinctId: string) =>
      events.find((event) => event.distinctId === distinctId)?.profileId ?? '';
    expect(await named({ profileId: profileOf('bert') })).toEqual(['third', 'old']);
    expect(profileOf('cookieless-x')).toBe('');
    expect(await named({ profileId: '0'.repeat(32) })).toEqual([]);
    const [other] = (await list('prj_elsewhere', { profileId: profileOf('bert') })).events;
    expect(other).toBeUndefined();
  });

  it('events of a session, named in upper or lower case', async () => {
    expect(await named({ sessionId: session })).toEqual(['third']);
    expect(await named({ sessionId: session.toUpperCase() })).toEqual(['third']);
  });

  it('events of kinds', async () => {
    expect(await named({ kinds: ['click', 'signup', 'no such'] })).toEqual(['second', 'old']);
  });

  it('events of a time range without its end', async () => {
    const range = (from: number, to: number) => ({
      timeRange: { from: timestampFromMs(from), to: timestampFromMs(to) },
    });
    expect(await named(range(startMs, startMs + 2))).toEqual(['second', 'first']);
    expect(await named(range(startMs, startMs))).toEqual([]);
    expect(await named({ timeRange: { to: timestampFromMs(startMs) } })).toEqual([
      'old',
      'ancient',
    ]);
    expect(await named({ timeRange: { from: timestampFromMs(startMs + 2) } })).toEqual([
      'future',
      'nobody',
      'third',
    ]);
    const nanos = timestampFromMs(startMs);
    nanos.nanos += 1;
    expect(await named({ timeRange: { from: nanos, to: timestampFromMs(startMs + 2) } })).toEqual([
      'second',
    ]);
    expect(await named({ timeRange: { from: timestampFromMs(startMs), to: nanos } })).toEqual([
      'first',
    ]);
    const far = {
      from: { seconds: -62_135_596_800n, nanos: 0 },
      to: { seconds: 253_402_300_799n, nanos: 0 },
    };
    expect(await named({ timeRange: far })).toHaveLength(7);
  });

  it('events that meet all conditions', async () => {
    const request = {
      distinctId: 'anna',
      kinds: ['page_view'],
      timeRange: { from: timestampFromMs(startMs) },
    };
    expect(await named(request)).toEqual(['first']);
  });
});

describe('pages', () => {
  it('hold 100 events unless the request says otherwise, and lead on to the rest', async () => {
    const projectId = newProject();
    const rows = Array.from({ length: 250 }, (_, index) =>
      storedRow({ projectId, occurTimeMs: startMs + index }),
    );
    await storeRows(service.clickhouse, rows);
    const newest = rows.map(({ eventId }) => eventId).reverse();
    const first = await list(projectId);
    expect(first.events.map(({ eventId }) => eventId)).toEqual(newest.slice(0, 100));
    expect(first.nextPageToken).not.toBe('');
    const exact = await list(projectId, { pageSize: 250 });
    expect(exact.events).toHaveLength(250);
    expect(exact.nextPageToken).toBe('');
    const walked = await walk(projectId, { pageSize: 83 });
    expect(walked.map(({ eventId }) => eventId)).toEqual(newest);
  });

  it('order events of one moment by the text of their ids', async () => {
    const projectId = newProject();
    const rows = Array.from({ length: 40 }, () => storedRow({ projectId, occurTimeMs: startMs }));
    await storeRows(service.clickhouse, rows);
    const walked = await walk(projectId, { pageSize: 7 });
    const sorted = rows
      .map(({ eventId }) => eventId)
      .sort()
      .reverse();
    expect(walked.map(({ eventId }) => eventId)).toEqual(sorted);
  });

  it('hold each event once while others arrive', async () => {
    const projectId = newProject();
    const at = (ms: number): StoredRow => storedRow({ projectId, occurTimeMs: startMs + ms });
    const before = Array.from({ length: 60 }, (_, index) => at(-index * dayMs));
    await storeRows(service.clickhouse, before);
    const late: StoredRow[] = [];
    const walked = await walk(projectId, { pageSize: 5 }, async (page) => {
      // One event newer than all, one among the pages already read, one among the pages to come.
      const toCome = at(-59 * dayMs + 1_000 + page);
      late.push(toCome);
      await storeRows(service.clickhouse, [at(dayMs + page), at(-page * dayMs - 1_000), toCome]);
    });
    const seen = walked.map(({ eventId }) => eventId);
    expect(new Set(seen).size).toBe(seen.length);
    for (const { eventId } of before) expect(seen).toContain(eventId);
    expect(late.some(({ eventId }) => seen.includes(eventId))).toBe(true);
  });

  it('end early if events are large', async () => {
    const projectId = newProject();
    const text = 'x'.repeat(100_000);
    const rows = Array.from({ length: 120 }, (_, index) =>
      storedRow({ projectId, occurTimeMs: startMs + index, strings: { text } }),
    );
    await storeRows(service.clickhouse, rows);
    const first = await list(projectId, { pageSize: 1_000 });
    expect(first.events.length).toBeGreaterThan(10);
    expect(first.events.length).toBeLessThan(120);
    const walked = await walk(projectId, { pageSize: 1_000 });
    expect(walked.map(({ eventId }) => eventId)).toEqual(
      rows.map(({ eventId }) => eventId).reverse(),
    );
  });

  it('go on with another pageSize, but not with other conditions or in another project', async () => {
    const projectId = newProject();
    await storeRows(
      service.clickhouse,
      Array.from({ length: 9 }, (_, index) =>
        storedRow({ projectId, occurTimeMs: startMs + index }),
      ),
    );
    const { nextPageToken } = await list(projectId, { pageSize: 4, kinds: ['page_view'] });
    const rest = await list(projectId, {
      pageSize: 7,
      kinds: ['page_view'],
      pageToken: nextPageToken,
    });
    expect(rest.events).toHaveLength(5);
    expect(rest.nextPageToken).toBe('');
    const rule = 'pageToken: must be a nextPageToken answered to the same conditions';
    for (const request of [
      { kinds: ['click'] },
      {},
      { kinds: ['page_view'], distinctId: 'visitor' },
      { kinds: ['page_view'], timeRange: { from: timestampFromMs(0) } },
    ]) {
      const error = await failure(list(projectId, { ...request, pageToken: nextPageToken }));
      expect(error).toMatchObject({ code: Code.InvalidArgument, rawMessage: rule });
    }
    const foreign = failure(list(newProject(), { kinds: ['page_view'], pageToken: nextPageToken }));
    expect((await foreign).rawMessage).toBe(rule);
  });
});

it('events that the engine cannot hold in memory at once come in shorter pages', async () => {
  const projectId = newProject();
  // 400 events of 4 MB: more than a read may use of the engine's memory, little on disk. A merge of a dozen parts of
  // such rows at the same time would leave the insert without memory.
  await service.clickhouse.command({ query: 'SYSTEM STOP MERGES events' });
  await service.clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, occur_time, string_properties)
      SELECT {projectId:String}, generateUUIDv4(number), 'large', now64(3, 'UTC') - toIntervalSecond(number),
        map('text', repeat(repeat('x', 1000), 4000)) FROM numbers(400)`,
    query_params: { projectId },
    clickhouse_settings: { max_block_size: '10', min_insert_block_size_rows: '10', max_threads: 1 },
  });
  const first = await list(projectId, { pageSize: 1_000 });
  expect(first.events.length).toBeGreaterThan(0);
  expect(first.nextPageToken).not.toBe('');
  await service.clickhouse.command({ query: 'TRUNCATE TABLE events' });
  await service.clickhouse.command({ query: 'SYSTEM START MERGES events' });
});
