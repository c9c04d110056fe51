// The cost of a refused body beside the same body accepted: from the body's bytes to the answer, with the message for
// the project's people. No HTTP, no broker: both would only make the difference look smaller.

import { createHash, type Hash } from 'node:crypto';
import { BlockList } from 'node:net';
import { type DescMessage, fromJsonString, toBinary } from '@bufbuild/protobuf';
import { createIngestMetrics } from '../../../ingest/metrics.ts';
import { Refusals } from '../../../ingest/refusals/refusals.ts';
import { createIngest } from '../../../ingest/start.ts';
import type { Authenticate } from '../../../platform/access/authenticate.ts';
import { dayMs } from '../../../platform/clock.ts';
import type { PlainRequestRoute } from '../../../platform/http/plain/plain-request.ts';
import { isObject, type JsonObject } from '../../../platform/json.ts';
import { maxBodyBytes, maxPropertiesPerMap } from '../../../platform/limits.ts';
import { createLog } from '../../../platform/log.ts';
import { createMetrics } from '../../../platform/metrics.ts';
import { BatchCreateRequestSchema as ShortRequestSchema } from '../../../proto/gen/events/v1/events_pb.js';
import { BatchCreateRequestSchema } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { decodeRefusal } from '../../../proto/wire/live/refusal-message.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import { type Bench, check } from '../../bench.ts';
import { comparePairs, type Pairing } from '../../harness/pairs.ts';

interface Parameters {
  /** Distinct bodies. */
  bodies: number;
  batch: number;
  pairs: number;
  warmUps: number;
}

const smoke: Parameters = { bodies: 2, batch: 10, pairs: 2, warmUps: 0 };
const real: Parameters = { bodies: 20, batch: 100, pairs: 9, warmUps: 2 };

const seed = 11;
const nowMs = Date.UTC(2026, 10, 20, 12);
const projectId = '0f0e0d0c-0b0a-4908-8706-050403020100';
const headers = { 'user-agent': 'curl/8.5.0', 'x-api-key': 'key' };

type Events = readonly JsonObject[];

interface Way {
  name: string;
  path: string;
  contentType: string;
  /** One run goes so many times through the bodies: 30 ms or more. */
  rounds: number;
  /** Of each body; as many as a batch has unless given. */
  events?: number;
  /** The JSON of an event as this way sends it. */
  textOf(event: JsonObject): string;
  /** The bytes of a body of such events. */
  bytesOf(texts: readonly string[]): Buffer;
  /** A rule, and how the JSON of an event comes to break it. */
  rules: Record<string, (text: string) => string>;
}

const jsonOf = (texts: readonly string[]): Buffer => Buffer.from(`{"events":[${texts.join()}]}`);
const binaryOf = (message: DescMessage) => (texts: readonly string[]) =>
  Buffer.from(toBinary(message, fromJsonString(message, jsonOf(texts).toString())));

/** The first rule is checked first in an event, the others later. */
const ofTyped = {
  uuid: (text: string) => text.replace(/"eventId":"./, '"eventId":"?'),
  kind_pattern: (text: string) => text.replace('"kind":"', '"kind":" '),
  occur_time_too_old: (text: string) => text.replace(/"occurTime":"\d{4}/, '"occurTime":"2025'),
  auto_key_prefix: (text: string) => text.replace('"autoProperties":{"$', '"autoProperties":{"'),
};
const ofText = {
  member_once: (text: string) => text.replace('{', '{"sessionId":"",'),
  body_json: (text: string) => text.replace(/"(kind|name)":/, '"$1"'),
};
const ofShort = {
  plain_value: (text: string) => text.replace('"properties":{', '"properties":{"k":[],'),
  kind_pattern: (text: string) => text.replace('"name":"', '"name":" '),
};

/** At the end of a large event: whoever reads it again from its beginning reads all of it. */
const ofLargeEvent = {
  uuid: ofTyped.uuid,
  member_once: (text: string) => text.replace(/}$/, ',"sessionId":""}'),
  body_json: (text: string) => text.replace(/}$/, ''),
};

const typedPath = '/sdk.events.v1.EventsService/BatchCreate';
const shortPath = '/events.v1.EventsService/BatchCreate';
const ways: readonly Way[] = [
  {
    ...{ name: 'typed JSON', path: typedPath, contentType: 'application/json', rounds: 50 },
    ...{ textOf: JSON.stringify, bytesOf: jsonOf, rules: { ...ofTyped, ...ofText } },
  },
  {
    ...{ name: 'typed JSON, one event', path: typedPath, contentType: 'application/json' },
    ...{ rounds: 100, events: 1, textOf: wideText, bytesOf: jsonOf, rules: ofLargeEvent },
  },
  {
    ...{ name: 'typed binary', path: typedPath, contentType: 'application/proto', rounds: 1 },
    ...{ textOf: JSON.stringify, bytesOf: binaryOf(BatchCreateRequestSchema), rules: ofTyped },
  },
  {
    ...{ name: 'short JSON', path: shortPath, contentType: 'application/json', rounds: 1 },
    ...{ textOf: shortText, bytesOf: jsonOf, rules: { ...ofShort, ...ofText } },
  },
  {
    ...{ name: 'short binary', path: shortPath, contentType: 'application/proto', rounds: 1 },
    ...{ textOf: shortText, bytesOf: binaryOf(ShortRequestSchema), rules: ofShort },
  },
];

/** With as many properties as an event may have. */
function wideText(event: JsonObject): string {
  const own = Object.entries(isObject(event['customProperties']) ? event['customProperties'] : {});
  const others = Array.from({ length: maxPropertiesPerMap - own.length }, (_, number) => {
    return [`property ${number}`, { intValue: '12' }];
  });
  return JSON.stringify({ ...event, customProperties: Object.fromEntries([...own, ...others]) });
}

function shortText({ kind, occurTime, sessionId, distinctId, ...rest }: JsonObject): string {
  const properties: Record<string, unknown> = { distinct_id: distinctId };
  for (const map of [rest['autoProperties'], rest['customProperties']]) {
    for (const [name, value] of Object.entries(isObject(map) ? map : {})) {
      const [[variant, plain] = []] = Object.entries(isObject(value) ? value : {});
      const isInt = variant === 'intValue' && Number.isSafeInteger(Number(plain));
      properties[name] = isInt ? Number(plain) : plain;
    }
  }
  return JSON.stringify({ name: kind, timestamp: occurTime, sessionId, properties });
}

export const refusedBench: Bench = {
  name: 'refused',
  question: 'What does a refused body cost, beside the same body accepted?',
  async run(mode) {
    const parameters = mode === 'smoke' ? smoke : real;
    const { batch } = parameters;
    const made = makeBodies({ size: 'medium', batch, count: parameters.bodies, seed, nowMs });
    const bodies = made.map(({ bytes }): Events => JSON.parse(bytes.toString()).events);
    const hash = createHash('sha256');
    const rows: string[][] = [];
    for (const way of ways) {
      for (const [rule, broken] of Object.entries(way.rules)) {
        const events = way.events ?? batch;
        for (const victim of new Set([0, events >> 1, events - 1])) {
          const pairing = await compare(way, rule, broken, victim, bodies, parameters, hash);
          rows.push(rowOf([way.name, rule, String(victim)], pairing, bodies.length * way.rounds));
        }
      }
    }
    return { tables: [{ title, columns, rows }], resultHash: hash.digest('hex') };
  },
};

const title =
  'A refused body (subject) and the same body accepted (calibration), medium events, one thread';
const columns = [
  ...['way', 'rule', 'event', 'refused us', 'accepted us'],
  ...['cost ratio', 'min', 'max'],
];

async function compare(
  way: Way,
  rule: string,
  broken: (text: string) => string,
  victim: number,
  bodies: readonly Events[],
  pairs: Parameters,
  hash: Hash,
): Promise<Pairing> {
  const ingest = startBareIngest();
  const { rounds } = way;
  const texts = bodies.map((events) =>
    events.slice(0, way.events).map((event) => way.textOf(event)),
  );
  const whole = texts.map((body) => way.bytesOf(body));
  const wrong = texts.map((body) => {
    const changed = body.map((text, index) => (index === victim ? broken(text) : text));
    return way.bytesOf(changed);
  });
  const answers = async (sent: readonly Buffer[], status: number): Promise<number> => {
    let count = 0;
    for (let round = 0; round < rounds; round++) {
      for (const bytes of sent) count += (await ingest.answer(way, bytes)) === status ? 1 : 0;
    }
    return count;
  };
  const pairing = await comparePairs(
    { run: () => answers(wrong, 400) },
    { run: () => answers(whole, 200) },
    { ...pairs, swaps: true },
  );
  const expected = bodies.length * rounds;
  check(pairing.subjectResult === expected, `${expected} bodies are refused by ${rule}`);
  check(pairing.calibrationResult === expected, `${expected} bodies are accepted`);
  const told = decodeRefusal(ingest.lastTold());
  check(told?.rule === rule, `the refusal told is about ${rule}`);
  const kind =
    rule === 'body_json' || rule === 'kind_pattern' ? '' : bodies.at(-1)?.[victim]?.['kind'];
  const isKindTold = told?.kind === kind || (way.name === 'short JSON' && rule === 'member_once');
  check(isKindTold, `the kind of event ${victim} is told`);
  hash.update(`${way.name} ${rule} ${told?.eventIndex} ${told?.field} ${told?.kind}`);
  return pairing;
}

interface BareIngest {
  /** The status of the answer. */
  answer(way: Way, bytes: Buffer): Promise<number | undefined>;
  lastTold(): Uint8Array;
}

/** Ingest whose broker is always there. Each refusal is told, as if it were the only one of its second. */
function startBareIngest(): BareIngest {
  let tellingMs = nowMs;
  let told: Uint8Array = new Uint8Array();
  const send = (_subject: string, content: Uint8Array): void => {
    told = content;
  };
  const metrics = createMetrics();
  const atOnce = { publish: () => Promise.resolve('stored' as const) };
  const { plainRequestRoute } = createIngest(
    {
      ...{ shards: 1, collectPath: '/m', authenticate, clock: { nowMs: () => nowMs } },
      ...{ eventsPerSecond: 0, eventsBurst: 1, publicMaxAgeMs: 30 * dayMs },
      ...{ log: createLog('silent'), metrics },
      salts: { of: () => ({ kind: 'unavailable' }) },
      caller: {
        ...{ trustedProxies: new BlockList(), proxyHops: 0 },
        ...{ botScoreHeader: 'cf-bot-score', verifiedBotHeader: 'cf-verified-bot' },
      },
    },
    createIngestMetrics(metrics),
    {
      ...{ events: atOnce, changes: atOnce, maxBodyBytes, onPreflight: () => {} },
      crowding: { isSlowed: () => false },
      refusals: new Refusals({ send, clock: { nowMs: () => (tellingMs += 1_000) } }),
    },
  );
  return { answer: (way, bytes) => statusOf(plainRequestRoute, way, bytes), lastTold: () => told };
}

const authenticate: Authenticate = () => ({
  kind: 'ok',
  principal: { projectId, organizationId: 'o', credential: 'public', keyId: 'k' },
});

async function statusOf(
  route: PlainRequestRoute,
  { path, contentType }: Way,
  bytes: Buffer,
): Promise<number | undefined> {
  const sent = { ...headers, 'content-type': contentType };
  const head = { path, query: '', headers: sent, bodyBytes: bytes.length };
  const handler = route(head, '192.0.2.1');
  return (await handler?.answer(bytes, false))?.status;
}

function rowOf(
  cells: readonly string[],
  { subjectCpuMs, calibrationCpuMs, ratio }: Pairing,
  sent: number,
): string[] {
  const perBody = (cpuMs: number): string => ((1_000 * cpuMs) / sent).toFixed(0);
  // The inverse of a speed ratio: the subject's time over the calibration's.
  const costs = [1 / ratio.median, 1 / ratio.max, 1 / ratio.min].map((cost) => cost.toFixed(2));
  return [...cells, perBody(subjectCpuMs), perBody(calibrationCpuMs), ...costs];
}
