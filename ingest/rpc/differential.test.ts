import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { fromJsonString, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BatchCreateRequestSchema as PlainRequestSchema } from '../../proto/gen/events/v1/events_pb.js';
import { BatchCreateRequestSchema } from '../../proto/gen/sdk/events/v1/events_pb.js';
import { shortRequest } from '../../test/harness/requests/short-requests.ts';
import { typedRequest } from '../../test/harness/requests/typed-requests.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';
import { hasTestData, testData } from '../../test/harness/test-data.ts';
import { readJsonBody, readMessage } from '../validation/text/readable-body.ts';
import { scanJsonBody } from '../validation/text/scan-body.ts';

const typed = '/sdk.events.v1.EventsService/BatchCreate';
const plain = '/events.v1.EventsService/BatchCreate';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service.stop());

interface Call {
  path: string;
  body: string | Uint8Array;
  headers?: Record<string, string>;
}

interface Answer {
  status: number;
  /** The JSON body; of success in binary, its bytes in hex. */
  body: unknown;
}

async function post(baseUrl: string, { path, body, headers }: Call): Promise<Answer> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey, ...headers },
    body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    body: isJson ? JSON.parse(bytes.toString()) : bytes.toString('hex'),
  };
}

const codeOf = ({ body }: Answer): unknown =>
  typeof body === 'object' && body !== null && 'code' in body ? body.code : 'ok';
const messageOf = ({ body }: Answer): string =>
  typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : '';
const verdict = (answer: Answer): string => `${answer.status} ${codeOf(answer)}`;

/** What differs between our handler's answer and the Connect router's, if anything. */
async function difference(call: Call): Promise<object | undefined> {
  const [ours, theirs] = await Promise.all([
    post(service.baseUrl, call),
    post(service.routerUrl, call),
  ]);
  if (verdict(ours) === verdict(theirs)) {
    // Where protobuf-es does not refuse a body, both speak of the same rules.
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

// The other side is connect-node with protobuf-es, and behind it the same rules.
describe('the same verdict, code and answer from both', () => {
  const sample = (requests: fc.Arbitrary<string>, numRuns: number) =>
    fc.sample(requests, { numRuns, seed: 20_261_120 });

  it('typed shape, JSON', async () => {
    const calls = sample(typedRequest, 4_000).map(
      (body, index): Call =>
        index % 5 === 0
          ? { path: typed, body: gzipSync(body), headers: gzip }
          : { path: typed, body },
    );
    expect((await differences(calls)).slice(0, 3)).toEqual([]);
  });

  it('short shape, JSON', async () => {
    const calls = sample(shortRequest, 2_000).map((body): Call => ({ path: plain, body }));
    expect((await differences(calls)).slice(0, 3)).toEqual([]);
  });

  it('both shapes, binary', async () => {
    const headers = { 'content-type': 'application/proto' };
    const calls: Call[] = [];
    const options = { ignoreUnknownFields: true };
    for (const body of sample(typedRequest, 1_000)) {
      const message = attempt(() => fromJsonString(BatchCreateRequestSchema, body, options));
      if (message === undefined) continue;
      calls.push({ path: typed, headers, body: toBinary(BatchCreateRequestSchema, message) });
    }
    for (const body of sample(shortRequest, 1_000)) {
      const message = attempt(() => fromJsonString(PlainRequestSchema, body, options));
      if (message === undefined) continue;
      calls.push({ path: plain, headers, body: toBinary(PlainRequestSchema, message) });
    }
    expect(calls.length).toBeGreaterThan(1_000);
    expect((await differences(calls)).slice(0, 3)).toEqual([]);
  });

  it('the generator makes enough of both, and of every kind of refusal', () => {
    const context = { receiveTimeMs: Date.now(), maxBodyBytes: 8_000_000 };
    const counts = new Map<string, number>();
    for (const body of sample(typedRequest, 4_000)) {
      const scanned = scanJsonBody(Buffer.from(body), context);
      const byRules = readJsonBody(Buffer.from(body), context);
      const name = scanned.kind === 'valid' ? 'valid' : scanned.violation.rule;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (scanned.kind === 'invalid') expect(scanned).toEqual(byRules);
      else expect(byRules).toMatchObject({ ...scanned, body: expect.anything() });
    }
    expect(counts.get('valid')).toBeGreaterThan(1_500);
    expect(counts.size).toBeGreaterThan(30);
  });

  it.each([
    ['scanned', scanJsonBody],
    ['read', readJsonBody],
  ])('what is queued, %s, means to protobuf-es what was sent', (_, readBody) => {
    const context = { receiveTimeMs: Date.now(), maxBodyBytes: 8_000_000 };
    const options = { ignoreUnknownFields: true };
    let valid = 0;
    for (const body of sample(typedRequest, 4_000)) {
      const read = readBody(Buffer.from(body), context);
      if (read.kind === 'invalid') continue;
      valid++;
      // Without what never comes from a sender: the pipeline leaves it out.
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

function eventText(changes: Record<string, string> = {}): string {
  const members = {
    eventId: `"${randomUUID()}"`,
    kind: '"click"',
    distinctId: '"u"',
    sessionId: `"${randomUUID()}"`,
    occurTime: '"2026-01-02T03:04:05Z"',
    ...changes,
  };
  return `{${Object.entries(members)
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`;
}

const body = (changes: Record<string, string> = {}): string => `{"events":[${eventText(changes)}]}`;
const value = (text: string): string => body({ customProperties: `{"k":${text}}` });
const plainBody = (properties: string): string =>
  `{"events":[{"name":"a","properties":{"distinct_id":"u",${properties}}}]}`;

/** Where our handler deliberately says something else than protobuf-es and connect-node, and why. */
const deliberate: { why: string; ours: string; theirs: string; calls: Call[] }[] = [
  {
    why: 'a date that no calendar has is refused; protobuf-es moves it to the next day',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: ['2026-02-30T00:00:00Z', '2025-02-29T00:00:00Z', '2026-01-01T24:00:00Z'].flatMap(
      (time) => [
        {
          path: typed,
          body: body({ occurTime: `"${time}"` }).replace('"2026-01-02T03:04:05Z"', `"${time}"`),
        },
        { path: typed, body: value(`{"timestampValue":"${time}"}`) },
      ],
    ),
  },
  {
    why: 'an int64 as a JSON number is judged by its text, which JSON.parse has rounded',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [
      '9007199254740993',
      '9007199254740992',
      '9007199254740991.4',
      '1.00000000000000000001',
    ].map((text) => ({ path: typed, body: value(`{"intValue":${text}}`) })),
  },
  {
    why: 'an int64 in a string is decimal digits, not what BigInt takes',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [' 1', '1\\n', '0x10', '0b1', '+1', '01'].map((text) => ({
      path: typed,
      body: value(`{"intValue":"${text}"}`),
    })),
  },
  {
    why: 'a double in a string is a JSON number, not what Number takes',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: ['0x10', '1.', '.5', '+1', '01'].map((text) => ({
      path: typed,
      body: value(`{"doubleValue":"${text}"}`),
    })),
  },
  {
    why: 'a member given twice is refused: readers differ on which one counts, and one could hide an address',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [
      { path: typed, body: '{"events":[],"events":[]}' },
      { path: typed, body: body().replace('"kind"', '"kind":"other","kind"') },
      {
        path: typed,
        body: body({ customProperties: '{"k":{"boolValue":true},"k":{"boolValue":true}}' }),
      },
      { path: typed, body: body({ unknown: '{"a":1,"a":2}' }) },
      { path: typed, body: value('{"boolValue":true,"boolValue":true}') },
      { path: plain, body: plainBody('"k":1,"k":2') },
    ],
  },
  {
    why: 'a member given in both spellings is refused, for the same reason',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [
      { path: typed, body: body({ event_id: `"${randomUUID()}"` }) },
      {
        path: typed,
        body: body({ distinct_id: 'null', distinctId: '"u"' })
          .replace('"distinct_id":null,', '')
          .replace('"kind"', '"distinct_id":null,"kind"'),
      },
      { path: typed, body: body({ custom_properties: '{}', customProperties: '{}' }) },
      {
        path: plain,
        body: '{"events":[{"name":"a","sessionId":"s","session_id":"s","properties":{"distinct_id":"u"}}]}',
      },
    ],
  },
  {
    why: 'half a surrogate pair, in members that protobuf-es skips too',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: typed, body: body({ unknown: '"\\ud800"' }) }],
  },
  {
    why: 'invalid UTF-8 is refused; connect-node puts U+FFFD in its place',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [
      { path: typed, body: Buffer.from(body({ distinctId: '"\xff"' }), 'latin1') },
      { path: plain, body: Buffer.from(plainBody('"k":"\xff"'), 'latin1') },
    ],
  },
  {
    why: 'a byte order mark is no JSON; connect-node skips it',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: typed, body: `\ufeff${body()}` }],
  },
  {
    why: 'unknown members nest at most 100 levels',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: typed, body: body({ unknown: `${'['.repeat(200)}${']'.repeat(200)}` }) }],
  },
  {
    why: 'a variant that is null is absent, whatever its type; protobuf-es counts a null timestamp',
    ours: '200 ok',
    theirs: '400 invalid_argument',
    calls: [{ path: typed, body: value('{"timestampValue":null,"stringValue":"x"}') }],
  },
  {
    why: 'a whole number that a double has rounded is refused in the short shape',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: plain, body: plainBody('"k":9007199254740993') }],
  },
  {
    why: 'a property named __proto__ is one like any other; protobuf-es loses it',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: plain, body: plainBody('"__proto__":[]') }],
  },
  {
    why: 'a body that is no protobuf is the sender’s fault',
    ours: '400 invalid_argument',
    theirs: '500 internal',
    calls: [
      { path: typed, body: 'no protobuf', headers: { 'content-type': 'application/proto' } },
      { path: plain, body: 'no protobuf', headers: { 'content-type': 'application/proto' } },
    ],
  },
  {
    why: 'a body that is too large will be too large again: not a code that is worth a retry',
    ours: '400 invalid_argument',
    theirs: '429 resource_exhausted',
    calls: [
      { path: typed, body: `{"x":"${'a'.repeat(8_388_608)}"}` },
      { path: typed, body: gzipSync(`{"x":"${'a'.repeat(8_388_608)}"}`), headers: gzip },
    ],
  },
  {
    why: 'another version of the protocol is refused where it is named',
    ours: '400 invalid_argument',
    theirs: '200 ok',
    calls: [{ path: typed, body: body(), headers: { 'connect-protocol-version': '2' } }],
  },
];

describe('deliberate differences', () => {
  for (const { why, ours, theirs, calls } of deliberate) {
    it(why, async () => {
      for (const call of calls) {
        const verdicts = {
          ours: verdict(await post(service.baseUrl, call)),
          theirs: verdict(await post(service.routerUrl, call)),
          body: Buffer.from(call.body).toString().slice(0, 300),
        };
        expect(verdicts).toEqual({ ours, theirs, body: verdicts.body });
      }
    });
  }
});

interface ParsingCase {
  name: string;
  expect: 'accept' | 'reject' | 'either';
  bytes: string;
}

describe.runIf(hasTestData)('the JSON parsing suite', () => {
  const cases: ParsingCase[] = hasTestData
    ? readFileSync(testData('json-parsing.jsonl'), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];
  const bytesOf = ({ bytes }: ParsingCase) => Buffer.from(bytes, 'base64');

  it('as bodies: what is no JSON is an invalid argument, and nothing is a failure', async () => {
    expect(cases.length).toBeGreaterThan(300);
    for (const path of [typed, plain]) {
      for (const parsing of cases) {
        const answer = verdict(await post(service.baseUrl, { path, body: bytesOf(parsing) }));
        const expected =
          parsing.expect === 'reject'
            ? /^400 invalid_argument$/
            : /^(200 ok|400 invalid_argument)$/;
        expect([parsing.name, answer]).toEqual([parsing.name, expect.stringMatching(expected)]);
      }
    }
  });

  // Valid JSON that we refuse all the same.
  const refusedJson = new Map([
    ['y_object_duplicated_key.json', 'a member given twice'],
    ['y_object_duplicated_key_and_value.json', 'a member given twice'],
  ]);

  it('as the value of an unknown member: accepted exactly where it is JSON', async () => {
    const seen: string[] = [];
    for (const parsing of cases) {
      const wrapped = Buffer.concat([
        Buffer.from('{"x":'),
        bytesOf(parsing),
        Buffer.from(`,"events":[${eventText()}]}`),
      ]);
      const answer = verdict(await post(service.baseUrl, { path: typed, body: wrapped }));
      const isRefused = refusedJson.has(parsing.name);
      if (isRefused) seen.push(parsing.name);
      const expected = {
        accept: isRefused ? /^400 invalid_argument$/ : /^200 ok$/,
        reject: /^400 invalid_argument$/,
        either: /^(200 ok|400 invalid_argument)$/,
      };
      expect([parsing.name, answer]).toEqual([
        parsing.name,
        expect.stringMatching(expected[parsing.expect]),
      ]);
    }
    expect(seen.sort()).toEqual([...refusedJson.keys()].sort());
  });

  it('as the value of a property: never a failure', async () => {
    for (const parsing of cases) {
      const [before = '', after = ''] = value('{"stringValue":VALUE}').split('VALUE');
      const wrapped = Buffer.concat([Buffer.from(before), bytesOf(parsing), Buffer.from(after)]);
      const answer = verdict(await post(service.baseUrl, { path: typed, body: wrapped }));
      expect(answer).toMatch(/^(200 ok|400 invalid_argument)$/);
    }
  });
});

interface FormatCase {
  description: string;
  data: unknown;
  valid: boolean;
}

describe.runIf(hasTestData)('the JSON Schema suite’s formats, as values', () => {
  const casesOf = (name: string): FormatCase[] => {
    if (!hasTestData) return [];
    const groups: { tests: FormatCase[] }[] = JSON.parse(
      readFileSync(testData('formats', name), 'utf8'),
    );
    return groups.flatMap(({ tests }) => tests).filter(({ data }) => typeof data === 'string');
  };
  // Valid RFC 3339 that google.protobuf.Timestamp has no form for, or that lies outside of what an event may have.
  const noTimestamp = new Set([
    'a valid date-time with a leap second, UTC',
    'a valid date-time with a leap second, with minus offset',
    'case-insensitive T and Z',
    'a second fraction of fifteen nines is valid',
  ]);

  it('date-time as timestampValue', async () => {
    for (const { description, data, valid } of casesOf('date-time.json')) {
      const text = value(`{"timestampValue":${JSON.stringify(data)}}`);
      const answer = verdict(await post(service.baseUrl, { path: typed, body: text }));
      const isValid = valid && !noTimestamp.has(description);
      expect([description, answer]).toEqual([
        description,
        isValid ? '200 ok' : '400 invalid_argument',
      ]);
    }
  });

  const early = 'must not be before 2000-01-01T00:00:00Z';
  const noTime = 'must be an RFC 3339 timestamp such as 2026-01-02T03:04:05.678Z';
  it('date-time as occurTime: the valid ones are all before 2000', async () => {
    for (const { description, data, valid } of casesOf('date-time.json')) {
      const answer = await post(service.baseUrl, {
        path: typed,
        body: body({ occurTime: JSON.stringify(data) }),
      });
      const isEarly = valid && !noTimestamp.has(description);
      expect([description, messageOf(answer)]).toEqual([
        description,
        `events[0].occurTime: ${isEarly ? early : noTime}`,
      ]);
    }
  });

  it('uuid as eventId and sessionId', async () => {
    for (const { description, data, valid } of casesOf('uuid.json')) {
      for (const field of ['eventId', 'sessionId']) {
        const call = { path: typed, body: body({ [field]: JSON.stringify(data) }) };
        const answer = verdict(await post(service.baseUrl, call));
        expect([description, answer]).toEqual([
          description,
          valid ? '200 ok' : '400 invalid_argument',
        ]);
      }
    }
  });
});
