// @amplitude/analytics-browser and -node, and amplitude-js before them, which sends forms: batches at one path, whose
// answers the SDKs read.

import { fieldOf, isObject, type JsonObject } from '../../../platform/json.ts';
import {
  type Answers,
  type CollectEndpoint,
  type Decoded,
  type Endpoint,
  type Family,
  jsonBody,
  keyIn,
  noItems,
  usualAnswers,
} from '../endpoint.ts';
import { EventDraft } from '../mapping/event-draft.ts';
import { idText, parsedJson, textOf, timeMsOf } from '../mapping/sent-values.ts';
import { putRevenue } from '../mapping/well-known-names.ts';

/**
 * Without a `code` in the body the SDKs take even a 200 for a failure. On 429 they keep the events, on 5xx the browser
 * gives them up after five tries in nine seconds. Those that send forms took the word alone for success.
 */
const answers: Answers = {
  ...usualAnswers,
  accepted: {
    status: 200,
    body: (events, { headers }) =>
      headers['content-type']?.startsWith('application/x-www-form-urlencoded')
        ? { text: 'success', type: 'text/plain' }
        : jsonBody({ code: 200, events_ingested: events, payload_size_bytes: 0 }),
  },
  overload: 429,
  refused: (status, message) => jsonBody({ code: status, error: message }),
};

/** amplitude-js has `client`, `e` and `upload_time`, the first HTTP API `api_key` and `event`: events are JSON text. */
function readForm(text: string): JsonObject {
  const form = new URLSearchParams(text);
  const events = parsedJson(form.get('e') ?? form.get('event') ?? '');
  return {
    api_key: form.get('client') ?? form.get('api_key'),
    client_upload_time: form.get('upload_time'),
    events: Array.isArray(events) ? events : [events],
  };
}

function eventsOf(json: unknown): readonly unknown[] {
  const events = fieldOf(json, 'events');
  return Array.isArray(events) ? events : [];
}

/** A batch of events in the form of the HTTP API. */
export function decodeAmplitude(_head: unknown, json: unknown): Decoded {
  const decoded = noItems();
  const sentMs = timeMsOf(fieldOf(json, 'client_upload_time'));
  for (const item of eventsOf(json)) {
    const name = textOf(fieldOf(item, 'event_type'));
    if (!isObject(item) || name === undefined) decoded.unreadable++;
    else decodeEvent(item, name, sentMs, decoded);
  }
  return decoded;
}

/** Fields of an event that are properties under a name of ours, or under their own. */
const fields: readonly (readonly [field: string, name: string])[] = [
  ['language', '$locale'],
  ['platform', '$platform'],
  ['app_version', '$app_version'],
  ['device_id', '$device_id'],
  ['productId', 'productId'],
  ['price', 'price'],
  ['quantity', 'quantity'],
  ['revenueType', 'revenueType'],
  ['currency', 'currency'],
];
const textFields = [
  ['os_name', '$os'],
  ['os_version', '$osVersion'],
  ['device_model', '$device'],
] as const;
const pageProperties = [
  ['[Amplitude] Page Location', '$url'],
  ['[Amplitude] Page Path', '$pathname'],
  ['[Amplitude] Previous Page Location', '$referrer'],
  ['utm_source', '$utmSource'],
  ['utm_medium', '$utmMedium'],
  ['utm_campaign', '$utmCampaign'],
  ['utm_term', '$utmTerm'],
  ['utm_content', '$utmContent'],
] as const;

function decodeEvent(
  event: JsonObject,
  name: string,
  sentMs: number | undefined,
  decoded: Decoded,
): void {
  const userId = idText(event['user_id']);
  const deviceId = idText(event['device_id']);
  if (userId !== undefined) addCall(event, name, userId, deviceId, decoded);
  const draft = new EventDraft(name);
  draft.id = idText(event['insert_id']) ?? idText(event['uuid']);
  draft.timeMs = timeMsOf(event['time'] ?? event['timestamp']);
  draft.sentMs = sentMs;
  draft.distinctId = userId ?? deviceId;
  // The millisecond in which the visit began, which others share; -1 is no visit.
  const session = idText(event['session_id']);
  const visitor = deviceId ?? userId;
  if (session !== undefined && session !== '-1') draft.session = `${visitor ?? ''}/${session}`;
  const sent = isObject(event['event_properties']) ? event['event_properties'] : {};
  const { properties } = draft;
  for (const [field, own] of pageProperties) properties.putText(own, sent[field]);
  const library = textOf(fieldOf(event['library'], 'name')) ?? textOf(event['library']);
  properties.put('$lib', library);
  properties.put('$lib_version', textOf(fieldOf(event['library'], 'version')));
  if (!namesBrowser(event, library)) {
    for (const [field, own] of textFields) properties.putText(own, event[field]);
  }
  for (const [field, own] of fields) properties.put(own, event[field]);
  properties.put('title', textOf(sent['[Amplitude] Page Title']));
  const groups = event['groups'];
  if (isObject(groups)) {
    for (const type in groups) properties.put(`$group_${type}`, groups[type]);
  }
  putRevenue(properties, { ...event, ...sent });
  properties.putAll(sent);
  if (event['group_properties'] !== undefined)
    properties.put('group_properties', event['group_properties']);
  decoded.events.push(draft);
}

/** On pages the SDKs before version 2 have the browser as `os_name`: the request's agent says it all, and rightly. */
function namesBrowser(event: JsonObject, library: string | undefined): boolean {
  return event['platform'] === 'Web' && library?.startsWith('amplitude-') === true;
}

/** A user owns the device; `$set`, `$setOnce` and a group become traits. */
function addCall(
  event: JsonObject,
  name: string,
  externalId: string,
  anonymousId: string | undefined,
  { calls }: Decoded,
): void {
  const operations = event['user_properties'];
  const set = fieldOf(operations, '$set');
  const traits: Record<string, unknown> = name === '$identify' && isObject(set) ? { ...set } : {};
  if (name !== '$identify' && isObject(operations)) Object.assign(traits, plain(operations));
  const groups = event['groups'];
  if (name === '$identify' && isObject(groups)) {
    for (const type in groups) traits[`$group_${type}`] = groups[type];
  }
  const once = fieldOf(operations, '$setOnce');
  const traitsOnce = name === '$identify' && isObject(once) ? once : {};
  const isKnown = anonymousId === undefined || isLinked(calls, externalId, anonymousId);
  if (isKnown && Object.keys(traits).length + Object.keys(traitsOnce).length === 0) return;
  calls.push({ externalId, anonymousId, traits, traitsOnce });
}

function plain(operations: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(operations).filter(([key]) => !key.startsWith('$')));
}

/** Every event of a user names the device: one call of a request links them. */
function isLinked(calls: Decoded['calls'], externalId: string, anonymousId: string): boolean {
  const last = calls.at(-1);
  return last?.externalId === externalId && last.anonymousId === anonymousId;
}

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'amplitude',
  claims: (_head, json) => Array.isArray(fieldOf(json, 'events')),
  keyOf: (_head, json) => keyIn(fieldOf(json, 'api_key'), 'body'),
  decode: decodeAmplitude,
  readForm,
  answers,
};

export const amplitude: Family = {
  paths: new Map<string, Endpoint>([
    ['/2/httpapi', collect],
    ['/httpapi', collect],
    ['/batch', collect],
  ]),
};
