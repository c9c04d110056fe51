// Our route beside the Connect router (connect-node with protobuf-es, in front of the same rules): generated requests
// get the same answers, and every deliberate difference is listed with its reason.

import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { fromJsonString, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BatchCreateRequestSchema as ShortRequestSchema } from '../../proto/gen/events/v1/events_pb.js';
import { BatchCreateRequestSchema } from '../../proto/gen/sdk/events/v1/events_pb.js';
import {
  type Call,
  messageOf,
  postCall,
  statusAndCode,
} from '../../test/harness/clients/post-call.ts';
import { shortBody, typedBody, valueBody } from '../../test/harness/requests/event-text.ts';
import { shortRequest } from '../../test/harness/requests/short-requests.ts';
import { typedRequest } from '../../test/harness/requests/typed-requests.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';
import { readJsonBody, readMessage } from '../validation/text/reference-body.ts';
import { scanJsonBody } from '../validation/text/scan-body.ts';

const typed = '/sdk.events.v1.EventsService/BatchCreate';
const short = '/events.v1.EventsService/BatchCreate';

/** The generated events lie between 2000 and 2026: those of the first months are too old. */
const maxAgeMs = Date.now() - Date.UTC(2000, 3, 1);

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService({ publicMaxAgeMs: maxAgeMs });
});
afterAll(() => service.stop());

const post = (baseUrl: string, call: Call) => postCall(baseUrl, service.publicKey, call);

/** A decoded message no longer tells `{"event": []}` from `{}`: our route alone refuses a body without events. */
const lacksEvents = /^events: is missing/;

/** The answers of our route and of the Connect router, where they differ. */
async function difference(call: Call): Promise<object | undefined> {
  const [ours, theirs] = await Promise.all([
    post(service.baseUrl, call),
    post(service.routerUrl, call),
  ]);
  if (lacksEvents.test(messageOf(ours)) && theirs.status === 200) return undefined;
  if (statusAndCode(ours) === statusAndCode(theirs)) {
    // Only where protobuf-es refuses the syntax may the messages differ.
    const isSyntax = /^cannot decode|^Unexpected|^parse binary/.test(messageOf(theirs));
    const isEqual = isSyntax || JSON.stringify(ours.body) === JSON.stringify(theirs.body);
    if (isEqual) return undefined;
  }
  return { ours, theirs, body: Buffer.from(call.body).toString().slice(0, 2_000) };
}

const concurrency = 16;

async function differences(calls: readonly Call[]): Promise<object[]> {
  const found: object[] = [];
  const rest = calls.values();
  const work = async () => {
    for (const call of rest) {
      const differs = await difference(call);
      if (differs !== undefined) found.push(differs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return found;
}

const gzip = { 'content-encoding': 'gzip' };

describe('our route and the Connect router give the same status, code and answer', () => {
  const sample = (requests: fc.Arbitrary<string>, numRuns: number) =>
    fc.sample(requests, { numRuns, seed: 20_261_120 });

  const typedRequests = sample(typedRequest, 4_000);
  /** Over HTTP a request costs fifty times as much: as many as hold every kind of refusal. */
  const sentRequests = typedRequests.slice(0, 2_000);

  it('typed shape, JSON', async () => {
    const calls = sentRequests.map(
      (body, index): Call =>
        index % 5 === 0
          ? { path: typed, body: gzipSync(body), headers: gzip }
          : { path: typed, body },
    );
    expect((await differences(calls)).slice(0, 3)).toEqual([]);
  });

  it('short shape, JSON', async () => {
    const calls = sample(shortRequest, 1_000).map((body): Call => ({ path: short, body }));
    expect((await differences(calls)).slice(0, 3)).toEqual([]);
  });

  it('both shapes, binary', async () => {
    const headers = { 'content-type': 'application/proto' };
    const calls: Call[] = [];
    const options = { ignoreUnknownFields: true };
    for (const body of typedRequests.slice(0, 1_000)) {
      const message = attempt(() => fromJsonString(BatchCreateRequestSchema, body, options));
      if (message === undefined) continue;
      calls.push({ path: typed, headers, body: toBinary(BatchCreateRequestSchema, message) });
    }
    for (const body of sample(shortRequest, 1_000)) {
      const message = attempt(() => fromJsonString(ShortRequestSchema, body, options));
      if (message === undefined) continue;
      calls.push({ path: short, headers, body: toBinary(ShortRequestSchema, message) });
    }
    expect(calls.length).toBeGreaterThan(1_000);
    expect((await differences(calls)).slice(0, 3)).toEqual([]);
  });

  it('the generated requests hold enough valid ones and many kinds of refusals', () => {
    const context = { receiveTimeMs: Date.now(), maxBodyBytes: 8_000_000, maxAgeMs };
    const counts = new Map<string, number>();
    const sentKinds = new Set<string>();
    for (const [index, body] of typedRequests.entries()) {
      const scanned = scanJsonBody(Buffer.from(body), context);
      const byRules = readJsonBody(Buffer.from(body), context);
      const name = scanned.kind === 'valid' ? 'valid' : scanned.violation.rule;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (index < sentRequests.length) sentKinds.add(name);
      if (scanned.kind === 'invalid') expect(scanned).toEqual(byRules);
      else expect(byRules).toMatchObject({ ...scanned, body: expect.anything() });
    }
    expect(counts.get('valid')).toBeGreaterThan(1_500);
    expect(counts.size).toBeGreaterThan(30);
    expect(sentKinds).toEqual(new Set(counts.keys()));
  });

  it.each([
    ['scanned', scanJsonBody],
    ['read', readJsonBody],
  ])('to protobuf-es the queued body, %s, means the same as the sent one', (_, readBody) => {
    const context = { receiveTimeMs: Date.now(), maxBodyBytes: 8_000_000, maxAgeMs };
    const options = { ignoreUnknownFields: true };
    let valid = 0;
    for (const body of typedRequests) {
      const read = readBody(Buffer.from(body), context);
      if (read.kind === 'invalid') continue;
      valid++;
      // Members that no sender may set are left out, as the pipeline leaves them out.
      const canonical = (text: string) => {
        const message = fromJsonString(BatchCreateRequestSchema, text, options);
        const queued = readMessage(message, context);
        return queued.kind === 'valid' ? Buffer.from(queued.body).toString() : queued.violation;
      };
      expect(canonical(Buffer.from(read.body).toString())).toEqual(canonical(body));
    }
    expect(valid).toBeGreaterThan(1_500);
  });
});

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Deliberate differences between our route and protobuf-es with connect-node, with their reasons. */
const deliberate: { why: string; ours: string; theirs: string; calls: Call[] }[] = [
  {
    why: 'a date that no calendar has is refused; protobuf-es moves it to the next day',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: ['2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-01-01T24:00:00Z'].flatMap(
      (time) => [
        {
          path: typed,
          body: typedBody({ occurTime: `"${time}"` }),
        },
        { path: typed, body: valueBody(`{"timestampValue":"${time}"}`) },
      ],
    ),
  },
  {
    why: 'an int64 as a JSON number is checked by its text, which JSON.parse would round',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [
      '9007199254740993',
      '9007199254740992',
      '9007199254740991.4',
      '1.00000000000000000001',
    ].map((text) => ({ path: typed, body: valueBody(`{"intValue":${text}}`) })),
  },
  {
    why: 'an int64 in a string must be decimal digits; BigInt takes more',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [' 1', '1\\n', '0x10', '0b1', '+1', '01'].map((text) => ({
      path: typed,
      body: valueBody(`{"intValue":"${text}"}`),
    })),
  },
  {
    why: 'a double in a string must be a JSON number; Number takes more',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: ['0x10', '1.', '.5', '+1', '01'].map((text) => ({
      path: typed,
      body: valueBody(`{"doubleValue":"${text}"}`),
    })),
  },
  {
    why: 'a member given twice is refused: readers differ on which one counts, and one could hide an address',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [
      { path: typed, body: '{"events":[],"events":[]}' },
      { path: typed, body: typedBody().replace('"kind"', '"kind":"other","kind"') },
      {
        path: typed,
        body: typedBody({ customProperties: '{"k":{"boolValue":true},"k":{"boolValue":true}}' }),
      },
      { path: typed, body: typedBody({ unknown: '{"a":1,"a":2}' }) },
      { path: typed, body: valueBody('{"boolValue":true,"boolValue":true}') },
      { path: short, body: shortBody('"k":1,"k":2') },
    ],
  },
  {
    why: 'a member given in both spellings is refused, for the same reason',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [
      { path: typed, body: typedBody({ event_id: `"${randomUUID()}"` }) },
      {
        path: typed,
        body: typedBody({ distinct_id: 'null', distinctId: '"u"' })
          .replace('"distinct_id":null,', '')
          .replace('"kind"', '"distinct_id":null,"kind"'),
      },
      { path: typed, body: typedBody({ custom_properties: '{}', customProperties: '{}' }) },
      {
        path: short,
        body: '{"events":[{"name":"a","sessionId":"s","session_id":"s","properties":{"distinct_id":"u"}}]}',
      },
    ],
  },
  {
    why: 'half a surrogate pair is refused, even in members that protobuf-es skips',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: typed, body: typedBody({ unknown: '"\\ud800"' }) }],
  },
  {
    why: 'unknown members nest at most 100 levels',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: typed, body: typedBody({ unknown: `${'['.repeat(200)}${']'.repeat(200)}` }) }],
  },
  {
    why: 'a variant that is null is absent, whatever its type; protobuf-es counts a null timestamp',
    ours: '200 ok',
    theirs: '400 invalid_argument',
    calls: [{ path: typed, body: valueBody('{"timestampValue":null,"stringValue":"x"}') }],
  },
  {
    why: 'a whole number that a double has rounded is refused in the short shape',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: short, body: shortBody('"k":9007199254740993') }],
  },
  {
    why: 'a property named __proto__ is checked like any other; protobuf-es loses it',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: short, body: shortBody('"__proto__":[]') }],
  },
];

describe('deliberate differences', () => {
  for (const { why, ours, theirs, calls } of deliberate) {
    it(why, async () => {
      for (const call of calls) {
        const seen = {
          ours: statusAndCode(await post(service.baseUrl, call)),
          theirs: statusAndCode(await post(service.routerUrl, call)),
          body: Buffer.from(call.body).toString().slice(0, 300),
        };
        expect(seen).toEqual({ ours, theirs, body: seen.body });
      }
    });
  }
});
