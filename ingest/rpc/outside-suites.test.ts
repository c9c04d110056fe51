// Suites that others wrote, sent as bodies and values: JSON parsing, and JSON Schema's formats. Skipped where the
// outside test data is absent.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Call,
  messageOf,
  postCall,
  statusAndCode,
} from '../../test/harness/clients/post-call.ts';
import { eventText, typedBody, valueBody } from '../../test/harness/requests/event-text.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';
import { hasTestData, testData } from '../../test/harness/test-data.ts';

const typed = '/sdk.events.v1.EventsService/BatchCreate';
const short = '/events.v1.EventsService/BatchCreate';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service.stop());

const post = (baseUrl: string, call: Call) => postCall(baseUrl, service.publicKey, call);

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

  it('as bodies: invalid JSON is an invalid argument, and no body is an internal error', async () => {
    expect(cases.length).toBeGreaterThan(300);
    for (const path of [typed, short]) {
      for (const parsing of cases) {
        const answer = statusAndCode(await post(service.baseUrl, { path, body: bytesOf(parsing) }));
        const expected =
          parsing.expect === 'reject'
            ? /^400 invalid_argument$/
            : /^(200 ok|400 invalid_argument)$/;
        expect([parsing.name, answer]).toEqual([parsing.name, expect.stringMatching(expected)]);
      }
    }
  });

  // Valid JSON that ingest refuses.
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
      const answer = statusAndCode(await post(service.baseUrl, { path: typed, body: wrapped }));
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

  it('as the value of a property: never an internal error', async () => {
    for (const parsing of cases) {
      const [before = '', after = ''] = valueBody('{"stringValue":VALUE}').split('VALUE');
      const wrapped = Buffer.concat([Buffer.from(before), bytesOf(parsing), Buffer.from(after)]);
      const answer = statusAndCode(await post(service.baseUrl, { path: typed, body: wrapped }));
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
  // Valid RFC 3339 that google.protobuf.Timestamp cannot write, or that an event may not have.
  const noTimestamp = new Set([
    'a valid date-time with a leap second, UTC',
    'a valid date-time with a leap second, with minus offset',
    'case-insensitive T and Z',
    'a second fraction of fifteen nines is valid',
  ]);

  it('date-time as timestampValue', async () => {
    for (const { description, data, valid } of casesOf('date-time.json')) {
      const text = valueBody(`{"timestampValue":${JSON.stringify(data)}}`);
      const answer = statusAndCode(await post(service.baseUrl, { path: typed, body: text }));
      const isValid = valid && !noTimestamp.has(description);
      expect([description, answer]).toEqual([
        description,
        isValid ? '200 ok' : '400 invalid_argument',
      ]);
    }
  });

  const early = 'must not be before 2000-01-01T00:00:00Z';
  const noTime = 'must be an RFC 3339 timestamp such as 2026-01-02T03:04:05.678Z';
  it('date-time as occurTime: valid times are all before 2000', async () => {
    for (const { description, data, valid } of casesOf('date-time.json')) {
      const answer = await post(service.baseUrl, {
        path: typed,
        body: typedBody({ occurTime: JSON.stringify(data) }),
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
        const call = { path: typed, body: typedBody({ [field]: JSON.stringify(data) }) };
        const answer = statusAndCode(await post(service.baseUrl, call));
        expect([description, answer]).toEqual([
          description,
          valid ? '200 ok' : '400 invalid_argument',
        ]);
      }
    }
  });
});
