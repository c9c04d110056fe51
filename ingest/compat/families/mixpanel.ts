// mixpanel-browser and mixpanel of Node: events at /track and /import, people at /engage, groups at /groups.

import { fieldOf, isObject, type JsonObject } from '../../../platform/json.ts';
import {
  type Answers,
  authorizationKey,
  type CollectEndpoint,
  type Decoded,
  type Endpoint,
  type Family,
  noItems,
  type SentHead,
  type SentKey,
  usualAnswers,
} from '../endpoint.ts';
import { EventDraft } from '../mapping/event-draft.ts';
import { idText, secondsOrMs, textOf } from '../mapping/sent-values.ts';
import {
  dollarNamesWithout,
  putDollarProperties,
  putRevenue,
} from '../mapping/well-known-names.ts';

/** Node's callback takes every body but `1` for a failure; the browser's takes it for success. */
const answers: Answers = {
  ...usualAnswers,
  accepted: { status: 200, body: () => ({ text: '1', type: 'text/plain' }) },
};

function itemsOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : [json];
}

/** In the bytes of a body or of the parameter `data`; with imports in the head. */
function keyOf(head: SentHead, json: unknown): SentKey | undefined {
  const [first] = itemsOf(json);
  const text = fieldOf(fieldOf(first, 'properties'), 'token') ?? fieldOf(first, '$token');
  if (typeof text === 'string' && text !== '') {
    return { text, from: head.query.has('data') ? 'url' : 'body' };
  }
  return authorizationKey(head);
}

/** Events, as the SDKs send them and an export has them. */
export function decodeTrack(_head: unknown, json: unknown): Decoded {
  const decoded = noItems();
  for (const item of itemsOf(json)) {
    const name = textOf(fieldOf(item, 'event'));
    const properties = fieldOf(item, 'properties');
    if (name === undefined) decoded.unreadable++;
    else decodeEvent(name, isObject(properties) ? properties : {}, decoded);
  }
  return decoded;
}

const names = dollarNamesWithout(['distinct_id', 'token', 'time']);

function decodeEvent(name: string, properties: JsonObject, decoded: Decoded): void {
  const draft = new EventDraft(name);
  draft.timeMs = secondsOrMs(properties['time']);
  draft.distinctId =
    idText(properties['distinct_id']) ?? idText(properties['$user_id']) ?? deviceOf(properties);
  draft.id = insertKey(draft, properties);
  putRevenue(draft.properties, properties);
  draft.properties.put('title', textOf(properties['current_page_title']));
  putDollarProperties(draft.properties, properties, names);
  decoded.events.push(draft);
  const distinctId = draft.distinctId;
  if (name === '$identify') {
    const identifiedId = idText(properties['$identified_id']) ?? distinctId;
    const anonymousId = properties['$anon_distinct_id'] ?? properties['$anon_id'];
    decoded.calls.push({ externalId: identifiedId, anonymousId });
  }
  if (name === '$create_alias' && distinctId !== undefined) {
    decoded.calls.push({ externalId: distinctId, alias: properties['alias'] });
  }
}

/**
 * Mixpanel's own rule: events of one name, user, `$insert_id` and day are one. An export names the user as a later
 * merge has it, so the id before counts; the day is that of the clock by which the time is written.
 */
function insertKey(draft: EventDraft, properties: JsonObject): string | undefined {
  const insertId = idText(properties['$insert_id']);
  if (insertId === undefined) return undefined;
  const user = idText(properties['$distinct_id_before_identity']) ?? draft.distinctId ?? '';
  const day = new Date(draft.timeMs ?? Number.NaN);
  const dayText = Number.isNaN(day.getTime()) ? '' : day.toISOString().slice(0, 10);
  return JSON.stringify([draft.name, user, insertId, dayText]);
}

function deviceOf(properties: JsonObject): string | undefined {
  const device = idText(properties['$device_id']);
  return device === undefined ? undefined : `$device:${device}`;
}

/** Traits of one person; the operations of sums and lists have no traits of ours. */
function decodeEngage(_head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  for (const item of itemsOf(json)) {
    if (!isObject(item)) {
      decoded.unreadable++;
      continue;
    }
    const externalId = idText(item['$distinct_id']);
    const traits = fieldOf(item, '$set');
    const traitsOnce = fieldOf(item, '$set_once');
    // A device is nobody until it is identified.
    if (externalId === undefined || externalId.startsWith('$device:')) continue;
    if (isObject(traits) || isObject(traitsOnce)) {
      decoded.calls.push({ externalId, traits, traitsOnce });
    }
  }
  return decoded;
}

function collect(
  decode: CollectEndpoint['decode'],
  claims: NonNullable<CollectEndpoint['claims']>,
): CollectEndpoint {
  const kind = 'collect';
  return { kind, family: 'mixpanel', claims, keyOf, decode, answers, takesGet: true };
}

const isTrack = (_head: SentHead, json: unknown): boolean =>
  fieldOf(itemsOf(json)[0], 'event') !== undefined;
const track = collect(decodeTrack, isTrack);
const engage = collect(decodeEngage, () => true);
/** A group has no person of ours: what is set of it is answered, and kept nowhere. */
const groups = collect(noItems, () => true);

export const mixpanel: Family = {
  paths: new Map<string, Endpoint>([
    ['/track', track],
    ['/import', track],
    ['/engage', engage],
    ['/groups', groups],
  ]),
};
