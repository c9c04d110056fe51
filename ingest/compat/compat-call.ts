// One request of another vendor's SDK: its key, in the head or found in the bytes, before any work on the body; then
// body -> JSON -> family and the project's setting -> items -> answer.

import type { IncomingMessage } from 'node:http';
import type { BodyReceiver } from '../../platform/http/bodies/received-body.ts';
import type { Lease } from '../../platform/http/bodies/request-memory.ts';
import { peerAddressOf } from '../../platform/http/caller-request.ts';
import type { HttpAnswer } from '../../platform/http/plain/plain-request.ts';
import { isObject } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import { readWithin } from '../rpc/accept.ts';
import { type Refusal, refusal, violationRefusal } from '../rpc/answer.ts';
import { type Principal, principalOrRefusal } from '../rpc/authenticate.ts';
import { bodyTooLarge, invalidBody, type ParsedJson } from '../validation/text/reference-body.ts';
import { acceptItems, type ItemParts, type Outcome } from './accept-items.ts';
import { compatAnswer } from './compat-answer.ts';
import type { CollectEndpoint, SentHead, SentKey } from './endpoint.ts';
import { dataText, isJson, readSentJson } from './mapping/sent-body.ts';
import { receiveText } from './receive-text.ts';
import { firstKey, keyInText } from './sent-key.ts';

export interface CallOptions {
  parts: ItemParts;
  /** The families that a project's setting names. */
  familiesOf: (projectId: string) => readonly string[];
  log: Log;
}

interface Call {
  head: SentHead;
  /** Of the families that share the path. */
  endpoints: readonly CollectEndpoint[];
  request: IncomingMessage;
  bodies: BodyReceiver;
  lease: Lease;
}

/** The row of the table of access that opens the endpoints. */
const accessMethod = 'sdk.events.v1.EventsService/BatchCreate';
/** Of a body whose key is not known before it is read. */
const maxUnknownBytes = 4 * 1_048_576;
/** Of one request: an SDK's batch has hundreds, and each becomes an object. */
const maxItems = 10_000;

/** Undefined where the sender is gone. What fails is told in the family's words, like what is refused. */
export async function serveCall(options: CallOptions, call: Call): Promise<HttpAnswer | undefined> {
  // Before the body tells the family: one whose SDK reads the answer. The others look at its status alone.
  const unknown = call.endpoints.find(({ answers }) => answers.refused) ?? call.endpoints[0];
  if (unknown === undefined) return undefined;
  const failed = (error: unknown): Served => {
    options.log.error({ err: error }, 'a request of another vendor’s SDK failed');
    return { outcome: refusal('internal', 'internal', 'internal error') };
  };
  const served = await serve(options, call).catch(failed);
  if (served === undefined) return undefined;
  const { outcome, endpoint = unknown } = served;
  try {
    const { metrics } = options.parts.events;
    if (outcome.kind === 'refused') metrics.refusedRequests.inc({ reason: outcome.reason });
    return compatAnswer(outcome, endpoint.answers, call.head);
  } catch (error) {
    return compatAnswer(failed(error).outcome, endpoint.answers, call.head);
  }
}

interface Served {
  outcome: Outcome;
  /** Absent where the family is not known yet. */
  endpoint?: CollectEndpoint;
}

async function serve(options: CallOptions, call: Call): Promise<Served | undefined> {
  const { head, endpoints, lease } = call;
  const { clock, maxBodyBytes } = options.parts.events;
  const receiveTimeMs = clock.nowMs();
  const headKey = firstKey(endpoints, head, undefined);
  const early = headKey && (await principalOf(headKey, options, call));
  if (early !== undefined) {
    if ('kind' in early) return { outcome: early };
    lease.claim(early.keyId);
  }
  const maxBytes = early === undefined ? Math.min(maxUnknownBytes, maxBodyBytes) : maxBodyBytes;
  const text = await textOf(call, maxBytes);
  if (text === undefined) return undefined;
  if (!Buffer.isBuffer(text)) return { outcome: told(options, call, early, text) };

  const found = headKey ?? keyInText(text, call.request);
  if (found === undefined) return { outcome: noKey };
  // The key of a head is asked once more: it may have been revoked while the body came.
  const principal = await principalOf(found, options, call);
  if ('kind' in principal) return { outcome: principal };
  if (early === undefined && !lease.handOver(principal.keyId)) return { outcome: tooManyHeld };
  const read = readWithin(options.parts.events.eventLimit, principal.keyId, text.length, () => {
    const json = readSent(text, endpoints);
    return json.kind === 'parsed' ? { kind: 'valid' as const, json: json.value } : json;
  });
  if ('code' in read) return { outcome: told(options, call, principal, read) };
  if (read.kind === 'invalid') {
    return { outcome: told(options, call, principal, violationRefusal(read.violation)) };
  }
  return serveJson(options, call, { json: read.json, found, principal, receiveTimeMs });
}

interface ReadCall {
  json: unknown;
  /** The key that was checked, and whose it is. */
  found: SentKey;
  principal: Principal;
  receiveTimeMs: number;
}

async function serveJson(options: CallOptions, call: Call, read: ReadCall): Promise<Served> {
  const { head, endpoints, request } = call;
  const { json, found, receiveTimeMs } = read;
  const items = longestList(json);
  if (items > maxItems) {
    const message = `the request must hold at most ${maxItems} items, got ${items}`;
    const tooMany = refusal('invalid_argument', 'events_count', message);
    return { outcome: told(options, call, read.principal, tooMany) };
  }
  const claiming = endpoints.filter(({ claims }) => claims === undefined || claims(head, json));
  const on = options.familiesOf(read.principal.projectId);
  const endpoint = claiming.find(({ family }) => on.includes(family)) ?? claiming[0];
  if (endpoint === undefined) {
    const unknown = violationRefusal(invalidBody('events_missing').violation);
    return { outcome: told(options, call, read.principal, unknown) };
  }
  // A text of the body that looks like a key may stand before the key itself.
  const key = endpoint.keyOf(head, json) ?? found;
  const principal =
    key.text === found.text ? read.principal : await principalOf(key, options, call);
  if ('kind' in principal) return { outcome: principal, endpoint };
  const { family } = endpoint;
  if (!options.familiesOf(principal.projectId).includes(family)) {
    return { outcome: told(options, call, principal, familyOff(family), endpoint), endpoint };
  }
  const callerRequest = { headers: request.headers, peerAddress: peerAddressOf(request.socket) };
  const outcome = await acceptItems(
    {
      principal,
      caller: options.parts.events.callers.read(callerRequest, principal.credential),
      request: callerRequest,
      receiveTimeMs,
      timeoutMs: Number.POSITIVE_INFINITY,
      draft: {
        projectId: principal.projectId,
        family,
        receiveTimeMs,
        correctsClock: principal.credential === 'public',
      },
      tell: (refused) => {
        options.parts.events.metrics.leftOutItems.inc({ reason: refused.reason });
        told(options, call, principal, refused, endpoint);
      },
    },
    endpoint.decode(head, json),
    options.parts,
  );
  if (outcome.kind === 'refused') told(options, call, principal, outcome, endpoint);
  return { outcome, endpoint };
}

/** Of a GET, the parameter `data`; without one the head says all. */
async function textOf(
  { request, bodies, lease, head }: Call,
  maxBytes: number,
): Promise<Buffer | Refusal | undefined> {
  if (request.method === 'POST') return receiveText(request, bodies, lease, maxBytes);
  const data = head.query.get('data');
  return data === null ? Buffer.from('{}') : dataText(data);
}

/** Of a form: its fields become objects, and SDKs' forms have some kilobytes. */
const maxFormBytes = 262_144;

/** JSON, or the form that a family of the path sends in its place. */
function readSent(text: Buffer, endpoints: readonly CollectEndpoint[]): ParsedJson {
  const readForm = isJson(text) ? undefined : endpoints.find((one) => one.readForm)?.readForm;
  if (readForm === undefined) return readSentJson(text);
  if (text.length > maxFormBytes) return bodyTooLarge(maxFormBytes);
  return { kind: 'parsed', value: readForm(text.toString()) };
}

/** The items of a request are a list, or one of its members is. */
function longestList(json: unknown): number {
  if (Array.isArray(json)) return json.length;
  if (!isObject(json)) return 0;
  const lists = Object.values(json).filter((value) => Array.isArray(value));
  return Math.max(0, ...lists.map(({ length }) => length));
}

/** A key whose project takes nothing from the request's origin opens nothing. */
async function principalOf(
  { text, from }: SentKey,
  options: CallOptions,
  call: Call,
): Promise<Principal | Refusal> {
  const { authenticate, senders } = options.parts.events;
  const credentials = from === 'url' ? { apiKeyParam: text } : { apiKey: text };
  const principal = principalOrRefusal(await authenticate(accessMethod, credentials));
  if ('kind' in principal) {
    return { ...principal, message: `the key of the request’s ${from}: ${principal.message}` };
  }
  const refused = senders.refusalOf(principal, call.head.headers.origin);
  return refused === undefined ? principal : told(options, call, principal, refused);
}

const noKey = refusal(
  'unauthenticated',
  'unauthenticated',
  'no credential: the SDK must be given a key of the project in place of its vendor’s',
);
const tooManyHeld = refusal('unavailable', 'busy', 'too many requests are being received');

function familyOff(family: string): Refusal {
  const message = `the project does not take requests of ${family}: its settings switch them on`;
  return refusal('permission_denied', 'compat_off', message);
}

/** Tells the project's people; returns the refusal. */
function told(
  { parts }: CallOptions,
  { head, endpoints }: Call,
  principal: Principal | undefined,
  refused: Refusal,
  endpoint = endpoints[0],
): Refusal {
  if (principal === undefined) return refused;
  const { projectId } = principal;
  const method = `compat/${endpoint?.family ?? ''}`;
  parts.events.refusals.tell({ projectId, method, refusal: refused, headers: head.headers });
  return refused;
}
