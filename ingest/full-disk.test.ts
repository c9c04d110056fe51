// SDK writes while the disk is nearly full: refused by a code that senders wait on, on every path, and taken again once
// there is room. What counts as nearly full is platform/engines/disk-room.ts's.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metricValue } from '../platform/metrics.ts';
import { type IngestService, startIngestService } from '../test/harness/services/ingest-service.ts';

let isScarce = true;
let service: IngestService;
beforeAll(async () => {
  service = await startIngestService({ disk: { isScarce: () => isScarce } });
});
afterAll(() => service.stop());

const calls = [
  [
    '/sdk.events.v1.EventsService/BatchCreate',
    () => ({
      events: [
        {
          eventId: randomUUID(),
          kind: 'click',
          distinctId: 'user-1',
          sessionId: randomUUID(),
          occurTime: new Date().toISOString(),
        },
      ],
    }),
  ],
  ['/sdk.profiles.v1.ProfilesSDKService/Identify', () => ({ externalId: 'user-1', traits: {} })],
  [
    '/sdk.profiles.v1.ProfilesSDKService/Alias',
    () => ({ externalId: 'user-1', previousId: 'user-2' }),
  ],
] as const;

const post = async (url: string, message: object) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey },
    body: JSON.stringify(message),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: await response.json(),
  };
};

it('refuses every SDK write, queues nothing of it, and takes it once there is room', async () => {
  const urls = [service.baseUrl, service.nodeUrl, service.routerUrl];
  for (const url of urls) {
    for (const [path, message] of calls) {
      expect(await post(url + path, message()), `${url}${path}`).toEqual({
        status: 429,
        retryAfter: '10',
        body: {
          code: 'resource_exhausted',
          message: 'the disk is nearly full, nothing of this request was queued: retry later',
        },
      });
    }
  }
  expect(await service.queued()).toEqual([]);
  expect(await service.queued('PROFILES_0')).toEqual([]);
  const labels = { reason: 'disk_full' };
  expect(await metricValue(service.metrics, 'millrace_refused_requests_total', labels)).toBe(
    urls.length * calls.length,
  );

  isScarce = false;
  for (const url of urls) {
    for (const [path, message] of calls) {
      expect((await post(url + path, message())).status, `${url}${path}`).toBe(200);
    }
  }
  expect(await service.queued()).toHaveLength(urls.length);
});
