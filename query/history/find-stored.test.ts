// FindStored on a real engine: which of some ids are stored, in a project and a range.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FindStoredRequestSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { findStored } from './find-stored.ts';

const dayMs = 86_400_000;
const atMs = Date.UTC(2024, 5, 1, 12);
const projectId = `prj_${randomUUID()}`;
const [here, before, after, elsewhere, nowhere] = Array.from({ length: 5 }, () => randomUUID());
const engine = useEngine();
let service: ReadService;

beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  const row = (eventId = '', occurTimeMs = atMs, project = projectId) =>
    storedRow({ projectId: project, eventId, occurTimeMs });
  await storeRows(service.clickhouse, [
    ...[row(here), row(here), row(before, atMs - 1), row(after, atMs + 10)],
    row(elsewhere, atMs, 'other'),
  ]);
});
afterAll(() => service?.stop());

const bytesOf = (ids: readonly (string | undefined)[]): Uint8Array =>
  Buffer.from(ids.join('').replaceAll('-', ''), 'hex');

const find = (ids: readonly (string | undefined)[], fromMs = atMs, toMs = atMs + 10) =>
  service.activity(projectId).findStored({
    eventIds: bytesOf(ids),
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
  });

it('answers the ids that the project stored in the range, each once, and whose they are', async () => {
  const answer = await find([nowhere, before, here, after, elsewhere]);
  expect(Buffer.from(answer.eventIds).toString('hex')).toBe(
    Buffer.from(bytesOf([here])).toString('hex'),
  );
  expect(answer.projectId).toBe(projectId);
});

it('answers the same where the range has more events than are compared', async () => {
  const ids = [nowhere, before, here, after, elsewhere];
  const timeRange = { from: timestampFromMs(atMs), to: timestampFromMs(atMs + 10) };
  const request = create(FindStoredRequestSchema, { eventIds: bytesOf(ids), timeRange });
  const deadline = { signal: new AbortController().signal, remainingMs: () => 60_000 };
  const answer = await findStored(service.clickhouse, projectId, request, deadline, 0);
  expect(Buffer.from(answer.eventIds)).toEqual(bytesOf([here]));
});

it('answers nothing for none', async () => {
  expect(await find([])).toMatchObject({ projectId, eventIds: new Uint8Array() });
  expect((await find([nowhere])).eventIds).toHaveLength(0);
});

it('takes ten thousand ids, from the router as JSON too', async () => {
  const many = [...Array.from({ length: 9_998 }, () => randomUUID()), here, after];
  const { status, text } = await service.post(
    projectId,
    'shared.activity.v1.ActivityService/FindStored',
    {
      eventIds: Buffer.from(bytesOf(many)).toString('base64'),
      timeRange: { from: '2024-06-01T00:00:00Z', to: '2024-06-02T00:00:00Z' },
    },
  );
  expect(status).toBe(200);
  const found = Buffer.from(JSON.parse(text).eventIds, 'base64').toString('hex');
  expect(found.match(/.{32}/g)?.sort()).toEqual(
    [here, after].map((id) => id?.replaceAll('-', '')).sort(),
  );
});

type Asked = Parameters<ReturnType<ReadService['activity']>['findStored']>[0];
const broken: [string, { ids?: string[]; range?: Asked['timeRange'] }][] = [
  ['eventIds: must be 16 bytes for each of at most 10000 ids', { ids: ['12'] }],
  ['timeRange.from: must be given', { range: { to: timestampFromMs(atMs) } }],
  ['timeRange.to: must be given', { range: { from: timestampFromMs(atMs) } }],
  [
    'timeRange: from must not be after to',
    { range: { from: timestampFromMs(atMs), to: timestampFromMs(atMs - 1) } },
  ],
  [
    'timeRange: takes at most 400 days',
    { range: { from: timestampFromMs(atMs), to: timestampFromMs(atMs + 401 * dayMs) } },
  ],
];
it.each(broken)('%s', async (message, { ids = [here], range }) => {
  const timeRange = range ?? { from: timestampFromMs(atMs), to: timestampFromMs(atMs) };
  const asked = service.activity(projectId).findStored({ eventIds: bytesOf(ids), timeRange });
  await expect(asked).rejects.toMatchObject({ rawMessage: message });
});
