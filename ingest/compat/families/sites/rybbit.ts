// Rybbit's script and @rybbit/node: one event or one description of a person a request.

import { fieldOf, isObject, type JsonObject } from '../../../../platform/json.ts';
import {
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
} from '../../endpoint.ts';
import { EventDraft } from '../../mapping/event-draft.ts';
import { idText, objectIn, textOf } from '../../mapping/sent-values.ts';

const keyStart = /^(?:pub|prv)_/;

/** A server's `api_key`, where it is one of ours; else the site. */
function keyOf(_head: SentHead, json: unknown): SentKey | undefined {
  const key = textOf(fieldOf(json, 'api_key'));
  if (key !== undefined && keyStart.test(key)) return keyIn(key, 'body');
  return keyIn(fieldOf(json, 'site_id'), 'body');
}

const names: ReadonlyMap<string, string> = new Map([
  ['pageview', 'pageview'],
  ['outbound', 'outbound_click'],
]);

/** Fields that are no properties; the Node client puts properties beside them. */
const own: ReadonlySet<string> = new Set([
  ...['site_id', 'api_key', 'type', 'event_name', 'user_id', 'properties', 'hostname'],
  ...['pathname', 'querystring', 'page_title', 'referrer', 'language', 'ip_address', 'user_agent'],
]);

function decodeTrack(_head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  const type = textOf(fieldOf(json, 'type'));
  if (!isObject(json) || type === undefined) {
    decoded.unreadable++;
    return decoded;
  }
  const draft = new EventDraft(textOf(json['event_name']) ?? names.get(type) ?? type);
  draft.distinctId = idText(json['user_id']);
  const { properties } = draft;
  properties.putText('$url', pageUrl(json));
  properties.putText('$referrer', json['referrer']);
  properties.put('title', textOf(json['page_title']));
  properties.put('$locale', textOf(json['language']));
  properties.putAll(objectIn(json['properties']));
  for (const key in json) if (!own.has(key)) properties.put(key, json[key]);
  decoded.events.push(draft);
  return decoded;
}

function pageUrl({ hostname, pathname, querystring }: JsonObject): string | undefined {
  const host = textOf(hostname);
  if (host === undefined) return textOf(pathname);
  return `https://${host}${textOf(pathname) ?? '/'}${textOf(querystring) ?? ''}`;
}

function decodeIdentify(_head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  const externalId = idText(fieldOf(json, 'user_id'));
  if (externalId === undefined) decoded.unreadable++;
  else decoded.calls.push({ externalId, traits: fieldOf(json, 'traits') });
  return decoded;
}

const ok = jsonBody({ success: true });

const collect = (decode: CollectEndpoint['decode']): CollectEndpoint => ({
  kind: 'collect',
  family: 'rybbit',
  claims: (_head, json) => fieldOf(json, 'site_id') !== undefined,
  keyOf,
  decode,
  answers: { ...usualAnswers, accepted: { status: 200, body: () => ok } },
});

/** Nothing is recorded and nothing left out beside what the page asks for. */
const config = { sessionReplay: false, webVitals: false, trackErrors: false };

const configPath = /^(?:\/api)?\/site\/tracking-config\/[\w.-]{1,200}$/;

export const rybbit: Family = {
  paths: new Map<string, Endpoint>([
    ['/track', collect(decodeTrack)],
    ['/api/track', collect(decodeTrack)],
    ['/identify', collect(decodeIdentify)],
    ['/api/identify', collect(decodeIdentify)],
  ]),
  match: (path) =>
    configPath.test(path) ? { kind: 'fixed', answer: () => jsonBody(config) } : undefined,
};
