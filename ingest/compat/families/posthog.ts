// posthog-js and posthog-node: batches of events whose persons, groups and aliases are events too.

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
  type SentHead,
  type SentKey,
  usualAnswers,
} from '../endpoint.ts';
import { EventDraft } from '../mapping/event-draft.ts';
import { idText, textOf, timeMsOf } from '../mapping/sent-values.ts';
import {
  dollarNamesWithout,
  putDollarProperties,
  putRevenue,
} from '../mapping/well-known-names.ts';

/**
 * The browser's SDK drops a batch for good on every 4xx, and sends it again on 503, ten times in an hour and once more
 * as the page is left: the family may be on by then, and the key made.
 */
const browserAnswers: Answers = {
  ...usualAnswers,
  accepted: { status: 200, body: () => jsonBody({ status: 1 }) },
  unreadable: 200,
  tooLarge: 200,
  denied: 503,
};
/** Node's halves a batch that it is told is too large, and gives one up after nine seconds of 503. */
const nodeAnswers: Answers = { ...usualAnswers, accepted: browserAnswers.accepted };

/** In place of an id, where the SDK keeps none: the server is to tell visitors apart. */
const cookielessId = '$posthog_cookieless';

function keyOf(_head: SentHead, json: unknown): SentKey | undefined {
  const [first] = itemsOf(json);
  const key = fieldOf(json, 'api_key') ?? fieldOf(json, 'token');
  return keyIn(key ?? fieldOf(first, 'api_key') ?? tokenOf(first), 'body');
}

function tokenOf(event: unknown): unknown {
  return fieldOf(fieldOf(event, 'properties'), 'token');
}

/** A batch, a bare list, or one event alone. */
function itemsOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json;
  const batch = fieldOf(json, 'batch');
  if (Array.isArray(batch)) return batch;
  return fieldOf(json, 'event') === undefined ? [] : [json];
}

/** A batch of events, as the SDKs send it. */
function decodePostHog({ query }: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  // Older versions have it in the address alone.
  const sentMs = timeMsOf(fieldOf(json, 'sent_at') ?? query.get('_'));
  for (const item of itemsOf(json)) {
    const properties = fieldOf(item, 'properties');
    decodePostHogEvent(item, isObject(properties) ? properties : {}, sentMs, decoded);
  }
  return decoded;
}

/** One event of a batch, or a row of an export. `sentMs`: when it was sent, by the sender's clock. */
export function decodePostHogEvent(
  event: unknown,
  properties: JsonObject,
  sentMs: number | undefined,
  decoded: Decoded,
): void {
  const name = textOf(fieldOf(event, 'event'));
  if (!isObject(event) || name === undefined) {
    decoded.unreadable++;
    return;
  }
  const distinctId = idText(event['distinct_id']) ?? idText(properties['distinct_id']) ?? undefined;
  const draft = new EventDraft(name);
  draft.id = idText(event['uuid']) ?? idText(properties['$insert_id']);
  draft.timeMs = timeMsOf(event['timestamp']) ?? beforeSent(event['offset'], sentMs);
  draft.sentMs = sentMs;
  draft.distinctId = distinctId === cookielessId ? undefined : distinctId;
  draft.session = idText(properties['$session_id']);
  putGroups(draft, properties['$groups']);
  putRevenue(draft.properties, properties);
  putDollarProperties(draft.properties, properties, names);
  // Nothing else holds what a visitor who is nobody yet sets: see addCalls.
  if (isAnonymous(properties)) draft.properties.put('$set', properties['$set']);
  decoded.events.push(draft);
  if (distinctId !== undefined && distinctId !== cookielessId) {
    addCalls(distinctId, event, properties, decoded);
  }
}

/** Older versions tell how long the event had waited when it was sent. */
function beforeSent(offset: unknown, sentMs: number | undefined): number | undefined {
  return typeof offset === 'number' && sentMs !== undefined ? sentMs - offset : undefined;
}

const identify = '$identify';

/** Without properties that the event's own fields or a call of identity hold. */
const names = dollarNamesWithout(['distinct_id', 'token', '$set', '$set_once', '$groups']);

function putGroups(draft: EventDraft, groups: unknown): void {
  if (!isObject(groups)) return;
  for (const type in groups) draft.properties.put(`$group_${type}`, idText(groups[type]));
}

function addCalls(
  distinctId: string,
  event: JsonObject,
  properties: JsonObject,
  { calls }: Decoded,
): void {
  const alias = properties['alias'];
  if (event['event'] === '$create_alias' && alias !== undefined) {
    calls.push({ externalId: distinctId, alias });
  }
  if (!isPersonal(event, properties)) return;
  const traits = {
    ...groupTraits(event, properties),
    ...membersOf(event['$set']),
    ...membersOf(properties['$set']),
  };
  const isIdentify = event['event'] === identify;
  // A call would name the anonymous id, and `$identify` could claim it no more: one visitor would be two persons.
  if (isAnonymous(properties) && !isIdentify) return;
  const hasTraits = Object.keys(traits).length > 0;
  const traitsOnce = { ...membersOf(event['$set_once']), ...membersOf(properties['$set_once']) };
  // The browser's SDK has them in each event of a visitor, too, whom a call would name before `$identify` does.
  const setsOnce = event['event'] === '$set' && Object.keys(traitsOnce).length > 0;
  if (!isIdentify && !((hasTraits || setsOnce) && !isGroup(distinctId, properties))) return;
  const anonymousId = isIdentify ? properties['$anon_distinct_id'] : undefined;
  calls.push({ externalId: distinctId, anonymousId, traits, traitsOnce });
}

/** Whether it may say anything of its person: of nearly all events that is soon told. */
function isPersonal(event: JsonObject, properties: JsonObject): boolean {
  const { event: name } = event;
  if (name === identify || name === '$set' || name === '$groupidentify') return true;
  return event['$set'] !== undefined || properties['$set'] !== undefined;
}

/** As the browser's SDK says before `$identify`, and again after a reset. */
function isAnonymous(properties: JsonObject): boolean {
  return properties['$is_identified'] === false;
}

function groupTraits(event: JsonObject, properties: JsonObject): JsonObject {
  const type = textOf(properties['$group_type']);
  if (event['event'] !== '$groupidentify' || type === undefined) return {};
  return { [`$group_${type}`]: idText(properties['$group_key']) };
}

/** Node's SDK describes a group in the name of nobody: the group stands where a person would. */
function isGroup(distinctId: string, properties: JsonObject): boolean {
  const [type, key] = [idText(properties['$group_type']), idText(properties['$group_key'])];
  return type !== undefined && key !== undefined && distinctId === `$${type}_${key}`;
}

function membersOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

const collect = (answers: Answers): CollectEndpoint => ({
  kind: 'collect',
  family: 'posthog',
  claims: (_head, json) => itemsOf(json).length > 0 || Array.isArray(fieldOf(json, 'batch')),
  keyOf,
  decode: decodePostHog,
  answers,
});

/** The least that starts the SDK: no flags, no surveys, no recording. */
const config = {
  supportedCompression: ['gzip', 'gzip-js'],
  hasFeatureFlags: false,
  surveys: false,
  sessionRecording: false,
  heatmaps: false,
  capturePerformance: false,
  siteApps: [],
  toolbarParams: {},
  isAuthenticated: false,
  defaultIdentifiedOnly: true,
};
const flags = { flags: {}, featureFlags: {}, errorsWhileComputingFlags: false };

const configPath = /^\/array\/([\w.-]{1,200})\/config(\.js)?$/;

function matchConfig(path: string): Endpoint | undefined {
  const [whole, key = '', script] = configPath.exec(path) ?? [];
  if (whole === undefined) return undefined;
  const ofKey = JSON.stringify({ [key]: { config, siteApps: [] } });
  const text = `window._POSTHOG_REMOTE_CONFIG=Object.assign(window._POSTHOG_REMOTE_CONFIG||{},${ofKey});`;
  return {
    kind: 'fixed',
    answer: () => (script === undefined ? jsonBody(config) : { text, type: 'text/javascript' }),
  };
}

export const posthog: Family = {
  paths: new Map<string, Endpoint>([
    ['/e', collect(browserAnswers)],
    ['/i/v0/e', collect(browserAnswers)],
    ['/capture', collect(browserAnswers)],
    ['/batch', collect(nodeAnswers)],
    ['/flags', { kind: 'fixed', answer: () => jsonBody(flags) }],
    ['/decide', { kind: 'fixed', answer: () => jsonBody({ ...config, ...flags }) }],
  ]),
  match: matchConfig,
};
