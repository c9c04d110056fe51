// Events of long ago, by every way into the port: refused of a public key, with words that its sender understands, and
// taken of a private one; cookieless ones are dropped, and counted, of both.

import { randomUUID } from 'node:crypto';
import { type DescMessage, fromJsonString, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import * as short from '../../proto/gen/events/v1/events_pb.js';
import * as typed from '../../proto/gen/sdk/events/v1/events_pb.js';
import { enveloped, RawClient, type Way } from '../../test/harness/clients/raw-call.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const clock = { nowMs: () => nowMs };
const maxAgeMs = 30 * dayMs;

let service: IngestService;
let unbounded: IngestService;
beforeAll(async () => {
  service = await startIngestService({ clock });
  unbounded = await startIngestService({ clock, publicMaxAgeMs: Number.POSITIVE_INFINITY });
});
afterAll(async () => {
  await service.stop();
  await unbounded.stop();
});

interface Shape {
  path: string;
  input: DescMessage;
  field: string;
  /** An event that names its user, and one that is cookieless, of this moment. */
  named(time: string): object;
  cookieless(time: string): object;
  answer(accepted: number, dropped?: number): object;
}

const ofTyped: Shape = {
  path: '/sdk.events.v1.EventsService/BatchCreate',
  input: typed.BatchCreateRequestSchema,
  field: 'occurTime',
  named: (occurTime) => ({
    ...{
      eventId: randomUUID(),
      kind: 'click',
      distinctId: 'u',
      sessionId: randomUUID(),
      occurTime,
    },
  }),
  cookieless: (occurTime) => ({
    eventId: randomUUID(),
    kind: 'click',
    cookieless: true,
    occurTime,
  }),
  answer: (accepted, dropped) => ({
    accepted,
    ...(dropped && { dropped, droppedByReason: { day_out_of_range: dropped } }),
  }),
};
const ofShort: Shape = {
  path: '/events.v1.EventsService/BatchCreate',
  input: short.BatchCreateRequestSchema,
  field: 'timestamp',
  named: (timestamp) => ({ name: 'click', timestamp, properties: { distinct_id: 'u' } }),
  cookieless: (timestamp) => ({ name: 'click', timestamp }),
  answer: (eventsCreated) => ({ eventsCreated }),
};

interface Entry extends Way {
  shape: Shape;
  path: string;
  headers(key: string): Record<string, string>;
  query(key: string): string;
}

const byHeader = {
  headers: (key: string) => ({ 'x-api-key': key }),
  query: () => '',
};
const ways: Way[] = [
  { protocol: 'connect', format: 'json', http: '1.1' },
  { protocol: 'connect', format: 'json', http: '1.1 chunked' },
  { protocol: 'connect', format: 'json', http: '2' },
  { protocol: 'connect', format: 'proto', http: '1.1' },
  { protocol: 'grpc', format: 'json', http: '2' },
  { protocol: 'grpc', format: 'proto', http: '2' },
  { protocol: 'grpc-web', format: 'json', http: '1.1' },
  { protocol: 'grpc-web', format: 'proto', http: '1.1' },
];
const entries: Entry[] = [ofTyped, ofShort].flatMap((shape) =>
  ways.map((way) => ({ ...way, ...byHeader, shape, path: shape.path })),
);
const beacon: Entry = {
  ...{ protocol: 'connect', format: 'json', http: '1.1', shape: ofTyped, path: '/m' },
  headers: () => ({ 'content-type': 'text/plain;charset=UTF-8' }),
  query: (key) => `?api_key=${key}`,
};

async function send({ baseUrl }: IngestService, entry: Entry, key: string, events: object[]) {
  const { shape, format, protocol, path } = entry;
  const text = JSON.stringify({ events });
  const message =
    format === 'json'
      ? Buffer.from(text)
      : Buffer.from(toBinary(shape.input, fromJsonString(shape.input, text)));
  const client = new RawClient(baseUrl);
  const headers = { ...entry.headers(key), 'user-agent': 'agent/1' };
  const body = protocol === 'connect' ? message : enveloped(message);
  const answer = await client.call(entry, path + entry.query(key), headers, body);
  client.close();
  return answer;
}

const at = (ms: number): string => new Date(ms).toISOString();
const justTooOld = at(nowMs - maxAgeMs - 1);
const advice =
  'must not be too long before receipt with a public key, at most 30 days: ' +
  "send older events from a server with a private key, and check the device's clock";

describe.each([...entries, beacon])('$path: $protocol, $format, HTTP/$http', (entry) => {
  const { shape } = entry;

  it('is refused of a public key, naming the event, and nothing of the request is queued', async () => {
    const before = (await service.queued()).length;
    const events = [shape.named(at(nowMs)), shape.named(justTooOld)];
    expect(await send(service, entry, service.publicKey, events)).toMatchObject({
      code: 'invalid_argument',
      message: `events[1].${shape.field}: ${advice}`,
    });
    expect((await service.queued()).length).toBe(before);
  });

  it('is taken of a public key at the bound, and where the operator sets none', async () => {
    const atBound = [shape.named(at(nowMs - maxAgeMs))];
    expect(await send(service, entry, service.publicKey, atBound)).toMatchObject({ code: 'ok' });
    const old = [shape.named('2000-01-01T00:00:00Z')];
    expect(await send(unbounded, entry, unbounded.publicKey, old)).toMatchObject({ code: 'ok' });
  });

  it.skipIf(entry === beacon)(
    'is taken of a private key, as far back as the contract',
    async () => {
      const old = [shape.named(justTooOld), shape.named('2000-01-01T00:00:00Z')];
      expect(await send(service, entry, service.privateKey, old)).toMatchObject({ code: 'ok' });
    },
  );

  it('is dropped and counted where it is cookieless', async () => {
    for (const key of entry === beacon
      ? [service.publicKey]
      : [service.publicKey, service.privateKey]) {
      const events = [shape.named(at(nowMs)), shape.cookieless(justTooOld)];
      const answer = await send(service, entry, key, events);
      expect(answer.code).toBe('ok');
      if (entry.protocol !== 'connect' || entry.format !== 'json') continue;
      expect(JSON.parse(answer.body.toString())).toEqual(shape.answer(1, 1));
    }
  });
});
