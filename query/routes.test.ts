// Every method of the read services has this in common: protocols, the limit on reads, and the answers to failures.

import { Writable } from 'node:stream';
import { Code, ConnectError, createClient as createRpcClient } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ActivityService } from '../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { readFailure } from './read-failure.ts';

const projectId = 'prj_routes';
const lines: string[] = [];
const log = pino(
  { level: 'info' },
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  }),
);
beforeEach(() => {
  lines.length = 0;
});

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url, log });
  await storeRows(service.clickhouse, [storedRow({ projectId })]);
});
afterAll(async () => {
  await service?.stop();
});

async function failure(call: Promise<unknown>): Promise<ConnectError> {
  return call.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => ConnectError.from(error),
  );
}

describe('every protocol answers', () => {
  const headers = { 'x-test-project': projectId };
  it.each([true, false])('binary: %s', async (useBinaryFormat) => {
    const { baseUrl } = service;
    for (const transport of [
      createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat }),
      createGrpcWebTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat }),
      createGrpcTransport({ baseUrl, useBinaryFormat }),
    ]) {
      const client = createRpcClient(ActivityService, transport);
      expect((await client.list({}, { headers })).events).toHaveLength(1);
    }
  });
});

describe('a limit on reads', () => {
  it('refuses one read too many and says when to come back', async () => {
    const limited = await startReadService({
      clickhouseUrl: engine.url,
      readsPerSecond: 2,
      clock: { nowMs: () => 0 },
    });
    const read = (project: string) =>
      limited.post(project, 'shared.profiles.v1.ProfilesService/Get', { id: '0'.repeat(32) });
    const statuses = [];
    for (let index = 0; index < 3; index++) statuses.push((await read('prj_a')).status);
    expect(statuses).toEqual([404, 404, 429]);
    const refused = await read('prj_a');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(JSON.parse(refused.text)).toEqual({
      code: 'resource_exhausted',
      message: 'too many reads with this key',
    });
    expect((await read('prj_b')).status).toBe(404);
    await limited.stop();
  });
});

describe('a limit on what is read', () => {
  it('lets a key that read much wait for its next read', async () => {
    const large = 'prj_read_much';
    const names = Array.from({ length: 100 }, (_, n) => `p${n}`);
    const strings = Object.fromEntries(names.map((name) => [name, 'x'.repeat(1_000)]));
    await storeRows(
      service.clickhouse,
      Array.from({ length: 10 }, () => storedRow({ projectId: large, strings })),
    );
    let nowMs = 0;
    const limited = await startReadService({
      clickhouseUrl: engine.url,
      readsPerSecond: 10,
      clock: { nowMs: () => nowMs },
    });
    const list = () => limited.post(large, 'shared.activity.v1.ActivityService/List', {});
    expect((await list()).status).toBe(200);
    const refused = await list();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    nowMs = 2_000;
    expect((await list()).status).toBe(200);
    await limited.stop();
  });
});

describe('when reading fails', () => {
  const list = () => service.activity(projectId).list({});

  it('a store that does not answer in time: deadline_exceeded', async () => {
    const hasty = await startReadService({ clickhouseUrl: engine.url, maxReadMs: 300 });
    // Its own limit is longer than the test's: only the caller's limit can end the read.
    const patient = await startReadService({ clickhouseUrl: engine.url, maxReadMs: 600_000 });
    const listPatiently = (timeoutMs?: number) =>
      patient.activity(projectId).list({}, timeoutMs === undefined ? {} : { timeoutMs });
    engine.pause();
    try {
      const read = hasty.activity(projectId).list({});
      expect(await failure(read)).toMatchObject({ code: Code.DeadlineExceeded });
      expect(await failure(listPatiently(200))).toMatchObject({ code: Code.DeadlineExceeded });
    } finally {
      engine.resume();
    }
    expect((await listPatiently()).events).toHaveLength(1);
    await hasty.stop();
    await patient.stop();
  });

  it('a store that answers nothing at all: unavailable, long before the time is over', async () => {
    const patient = await startReadService({
      clickhouseUrl: engine.url,
      maxReadMs: 600_000,
      storeSilenceMs: 50,
    });
    const listPatiently = () => patient.activity(projectId).list({});
    expect((await listPatiently()).events).toHaveLength(1);
    engine.pause();
    try {
      const reads = [listPatiently(), listPatiently(), listPatiently()];
      for (const error of await Promise.all(reads.map(failure))) {
        expect(error).toMatchObject({ code: Code.Unavailable });
        expect(error.metadata.get('retry-after')).toBe('1');
      }
      // Known by now.
      expect(await failure(listPatiently())).toMatchObject({ code: Code.Unavailable });
    } finally {
      engine.resume();
    }
    const stored = async () => (await listPatiently()).events.length;
    await expect.poll(() => stored().catch(() => 0)).toBe(1);
    await patient.stop();
  });

  it('a query that the engine ends: deadline_exceeded', async () => {
    const cause = await service.clickhouse
      .query({ query: 'SELECT sleep(3)', clickhouse_settings: { max_execution_time: 1 } })
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    const { signal } = new AbortController();
    const deadline = { signal, limitMs: 1_000, isCallers: false };
    const context = { signal, method: ActivityService.method.list };
    expect(readFailure(cause, context, deadline, { isStarved: () => false, log })).toMatchObject({
      code: Code.DeadlineExceeded,
    });
  });

  it('a fault of the service: internal, the cause logged once and never sent', async () => {
    await service.clickhouse.command({ query: 'RENAME TABLE events TO events_away' });
    try {
      const error = await failure(
        service.activity(projectId).list({ distinctId: 'secret of the caller' }),
      );
      expect(error).toMatchObject({ code: Code.Internal, rawMessage: 'the read failed' });
      const causes = lines.filter((line) => line.includes('a read failed'));
      expect(causes).toHaveLength(1);
      expect(causes[0]).toContain('UNKNOWN_TABLE');
      expect(lines.join()).not.toContain('secret of the caller');
    } finally {
      await service.clickhouse.command({ query: 'RENAME TABLE events_away TO events' });
    }
  });

  it('a store that has gone: unavailable until it is back', async () => {
    await engine.kill9();
    expect(await failure(list())).toMatchObject({ code: Code.Unavailable });
    await engine.restart();
    const stored = async () => (await list()).events.length;
    await expect.poll(() => stored().catch(() => 0)).toBe(1);
  });
});
