// SDK writes of a project that fills its shard's queue: refused by a code that senders wait on, on every path, and
// taken again a moment later. Who fills a queue is pipeline/consume/turns/crowding.ts's to say.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { tellLive } from '../platform/live/live-messages.ts';
import { crowdingSubject } from '../platform/live/live-subjects.ts';
import { metricValue } from '../platform/metrics.ts';
import { importMark, projectMark } from '../proto/wire/frame.ts';
import { encodeCrowding } from '../proto/wire/live/crowding-message.ts';
import { type IngestService, startIngestService } from '../test/harness/services/ingest-service.ts';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service.stop());

const paths = [
  '/sdk.events.v1.EventsService/BatchCreate',
  '/sdk.profiles.v1.ProfilesSDKService/Identify',
  '/sdk.profiles.v1.ProfilesSDKService/Alias',
];

const post = async (url: string, headers: Record<string, string> = {}) => {
  const event = {
    eventId: randomUUID(),
    kind: 'click',
    distinctId: 'user-1',
    sessionId: randomUUID(),
    occurTime: new Date().toISOString(),
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': service.publicKey,
      ...headers,
    },
    body: JSON.stringify({ events: [event], externalId: 'user-1', previousId: 'user-2' }),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
  };
};

it('refuses every SDK write of that project, and queues nothing of it, until a second later', async () => {
  const tell = (project: string) =>
    tellLive(service.nats, crowdingSubject(0), encodeCrowding([projectMark(project)]));
  tell('another project');
  await service.nats.flush();
  expect((await post(`${service.baseUrl}${paths[0]}`)).status).toBe(200);
  const told = setInterval(() => tell(service.projectId), 50);
  await expect.poll(async () => (await post(`${service.baseUrl}${paths[0]}`)).status).toBe(429);
  const before = (await service.queued()).length;
  for (const url of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
    for (const path of paths) {
      expect(await post(url + path), `${url}${path}`).toEqual({
        status: 429,
        retryAfter: '1',
        body: {
          code: 'resource_exhausted',
          message:
            'so much of this project waits to be stored that others wait too, nothing of this request was queued: ' +
            'retry in 1 s',
        },
      });
    }
  }
  const empty = await fetch(`${service.baseUrl}${paths[0]}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey },
    body: '{"events":[]}',
  });
  expect(empty.status).toBe(200);
  expect((await service.queued()).length).toBe(before);
  const refused = await metricValue(service.metrics, 'millrace_refused_requests_total', {
    reason: 'project_queue_full',
  });
  expect(refused).toBeGreaterThanOrEqual(10);
  clearInterval(told);
  await expect.poll(async () => (await post(`${service.baseUrl}${paths[0]}`)).status).toBe(200);
});

it('slows an import down, and no events of now of the same project', async () => {
  const told = setInterval(() => {
    tellLive(service.nats, crowdingSubject(0), encodeCrowding([importMark(service.projectId)]));
  }, 50);
  onTestFinished(() => clearInterval(told));
  const [path = ''] = paths;
  const send = (url: string, key: string, lane: Record<string, string>) =>
    post(url + path, { 'x-api-key': key, ...lane });
  const lane = { 'x-millrace-lane': 'import' };
  for (const url of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
    await expect.poll(async () => (await send(url, service.privateKey, lane)).status).toBe(429);
    expect((await send(url, service.privateKey, {})).status, url).toBe(200);
    // Of a page nobody takes it for an import.
    expect((await send(url, service.publicKey, lane)).status, url).toBe(200);
  }
});
