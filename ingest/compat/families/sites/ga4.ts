// GA4's protocols: hits of pages, whose query says all, or all but the events, which are lines of the body then; and
// the Measurement Protocol of servers, with events in a body.

import { fieldOf, isObject, type JsonObject } from '../../../../platform/json.ts';
import {
  type CollectEndpoint,
  type Decoded,
  type Endpoint,
  type Family,
  keyIn,
  noItems,
  type SentHead,
  type SentKey,
  usualAnswers,
} from '../../endpoint.ts';
import { EventDraft } from '../../mapping/event-draft.ts';
import { idText, textOf, timeMsOf } from '../../mapping/sent-values.ts';
import { putRevenue } from '../../mapping/well-known-names.ts';

function pageKey({ query }: SentHead): SentKey | undefined {
  return keyIn(query.get('tid'), 'url');
}

/**
 * As many events as a request of the Measurement Protocol has (Google's reference of it). The query's parameters are
 * read anew for each: without a bound, some kilobytes would make the work of gigabytes.
 */
const maxLines = 25;

/** Each line has the parameters of one event, behind those of the query, which are of all. */
function decodeHits({ query }: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  const lines: unknown[] = Array.isArray(json) ? json : [''];
  decoded.unreadable += Math.max(0, lines.length - maxLines);
  for (const line of lines.slice(0, maxLines)) {
    if (typeof line !== 'string') decoded.unreadable++;
    else decodeHit(new URLSearchParams([...query, ...new URLSearchParams(line)]), decoded);
  }
  return decoded;
}

function readLines(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

const texts = [
  ['dl', '$url'],
  ['dr', '$referrer'],
] as const;
const values = [
  ['dt', 'title'],
  ['ul', '$locale'],
  ['sr', 'screen'],
  ['cu', 'currency'],
] as const;

function decodeHit(hit: URLSearchParams, decoded: Decoded): void {
  const name = textOf(hit.get('en'));
  if (name === undefined) {
    decoded.unreadable++;
    return;
  }
  const draft = new EventDraft(name === 'user_engagement' ? '$pageleave' : name);
  const visitor = textOf(hit.get('cid'));
  const userId = textOf(hit.get('uid'));
  draft.distinctId = userId ?? visitor;
  const session = textOf(hit.get('sid'));
  if (session !== undefined) draft.session = `${visitor ?? ''}/${session}`;
  const { properties } = draft;
  for (const [parameter, own] of texts) properties.putText(own, hit.get(parameter));
  for (const [parameter, own] of values) properties.put(own, textOf(hit.get(parameter)));
  properties.put('engaged_ms', numberOf(hit.get('_et')));
  const traits: Record<string, unknown> = {};
  for (const [parameter, value] of hit) putParameter(draft, parameter, value, traits);
  properties.put('amount', numberOf(hit.get('epn.value')));
  decoded.events.push(draft);
  if (userId !== undefined && Object.keys(traits).length > 0) {
    decoded.calls.push({ externalId: userId, traits });
  }
}

/** `ep.` of an event and `up.` of a user, with an `n` where it is a number; `pr1` is an item of a cart. */
function putParameter(
  { properties }: EventDraft,
  parameter: string,
  value: string,
  traits: Record<string, unknown>,
): void {
  const [, holder, number, name = ''] = /^(ep|up)(n?)\.(.+)$/s.exec(parameter) ?? [];
  const sent = number === 'n' ? (numberOf(value) ?? value) : value;
  if (holder === 'ep') properties.put(name, sent);
  if (holder === 'up') traits[name] = sent;
  if (/^pr\d{1,3}$/.test(parameter)) properties.put(parameter, value);
}

function numberOf(text: string | null): number | undefined {
  const number = text === null || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** The secret of a server may be a private key only where it stands in no address. */
function serverKey({ query }: SentHead): SentKey | undefined {
  return keyIn(query.get('measurement_id') ?? query.get('firebase_app_id'), 'url');
}

function decodeServer(_head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  const events = fieldOf(json, 'events');
  if (!isObject(json) || !Array.isArray(events)) {
    decoded.unreadable++;
    return decoded;
  }
  const visitor = idText(json['client_id']) ?? idText(json['app_instance_id']);
  const userId = idText(json['user_id']);
  const traits = valuesOf(json['user_properties']);
  if (userId !== undefined && Object.keys(traits).length > 0) {
    decoded.calls.push({ externalId: userId, traits });
  }
  for (const event of events) {
    const name = textOf(fieldOf(event, 'name'));
    if (!isObject(event) || name === undefined) {
      decoded.unreadable++;
      continue;
    }
    const draft = serverDraft(event, name, visitor);
    draft.distinctId = userId ?? visitor;
    draft.timeMs ??= microseconds(json['timestamp_micros']);
    decoded.events.push(draft);
  }
  return decoded;
}

function serverDraft(event: JsonObject, name: string, visitor: string | undefined): EventDraft {
  const sent = isObject(event['params']) ? event['params'] : {};
  const draft = new EventDraft(name);
  draft.timeMs = microseconds(event['timestamp_micros']);
  const session = idText(sent['session_id']);
  if (session !== undefined) draft.session = `${visitor ?? ''}/${session}`;
  draft.properties.putText('$url', sent['page_location']);
  draft.properties.putText('$referrer', sent['page_referrer']);
  draft.properties.put('title', textOf(sent['page_title']));
  putRevenue(draft.properties, { revenue: sent['value'], ...sent });
  draft.properties.putAll(sent);
  return draft;
}

function microseconds(value: unknown): number | undefined {
  const micros = typeof value === 'string' ? Number(value) : value;
  return typeof micros === 'number' ? timeMsOf(micros / 1_000) : undefined;
}

/** `{plan: {value: "pro"}}` */
function valuesOf(properties: unknown): JsonObject {
  if (!isObject(properties)) return {};
  const entries = Object.entries(properties).map(([key, value]) => [key, fieldOf(value, 'value')]);
  return Object.fromEntries(entries);
}

const answers = {
  ...usualAnswers,
  accepted: { status: 200 as const, body: () => ({ text: '', type: 'text/plain' }) },
};

const page: CollectEndpoint = {
  ...{ kind: 'collect', family: 'ga4', keyOf: pageKey, decode: decodeHits, answers },
  readForm: readLines,
  takesGet: true,
};
const server: CollectEndpoint = {
  ...{ kind: 'collect', family: 'ga4', keyOf: serverKey, decode: decodeServer, answers },
};

export const ga4: Family = {
  paths: new Map<string, Endpoint>([
    ['/g/collect', page],
    ['/mp/collect', server],
  ]),
};
