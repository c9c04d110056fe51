// A cookieless request whose day's salt is not known yet, on a real broker that is frozen while the request waits.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayMs, systemClock } from '../../platform/clock.ts';
import { newEvent } from '../../test/harness/clients/client.ts';
import {
  freeze,
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

let aheadMs = 0;
const clock = { nowMs: () => systemClock.nowMs() + aheadMs };
let service: IngestService;
beforeAll(async () => {
  service = await startIngestService({ clock });
});
afterAll(() => service.stop());

async function send(
  baseUrl: string,
  timeoutMs: number,
): Promise<{ status: number; body: unknown }> {
  const { eventId, kind } = newEvent();
  const occurTime = new Date(clock.nowMs()).toISOString();
  const response = await fetch(`${baseUrl}/sdk.events.v1.EventsService/BatchCreate`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': service.publicKey,
      'connect-timeout-ms': String(timeoutMs),
    },
    body: JSON.stringify({ events: [{ eventId, kind, occurTime, cookieless: true }] }),
  });
  return { status: response.status, body: await response.json() };
}

it('ends at the time-out of the caller, and queues nothing', async () => {
  // The service knows today's salt and yesterday's, and must ask for the salts of other days.
  aheadMs = 2 * dayMs;
  await freeze(service.broker, service.nats);
  const [plain, routed] = await Promise.all([
    send(service.baseUrl, 60),
    send(service.routerUrl, 60),
  ]);
  expect(plain).toMatchObject({ status: 504, body: { code: 'deadline_exceeded' } });
  expect(routed).toMatchObject({ status: 504, body: { code: 'deadline_exceeded' } });
  service.broker.resume();
  expect(await send(service.baseUrl, 2 ** 32)).toMatchObject({
    status: 200,
    body: { accepted: 1 },
  });
  expect(await service.queued()).toHaveLength(1);
});
