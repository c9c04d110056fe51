// Umami's tracker and @umami/node: one page view, event or description of a visitor a request, or a list of them. The
// first version had another path, and other names of an event.

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
  usualAnswers,
} from '../../endpoint.ts';
import { EventDraft } from '../../mapping/event-draft.ts';
import { idText, textOf, timeMsOf } from '../../mapping/sent-values.ts';
import { putRevenue } from '../../mapping/well-known-names.ts';

function decode(_head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  for (const item of itemsOf(json)) decodeItem(item, decoded);
  return decoded;
}

function itemsOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : [json];
}

function decodeItem(item: unknown, decoded: Decoded): void {
  const payload = fieldOf(item, 'payload');
  if (!isObject(payload)) {
    decoded.unreadable++;
    return;
  }
  const distinctId = idText(payload['id']);
  if (fieldOf(item, 'type') === 'identify') {
    const traits = payload['data'];
    if (distinctId !== undefined) decoded.calls.push({ externalId: distinctId, traits });
    else decoded.events.push(draftOf(payload, 'identify', undefined));
    return;
  }
  const { name, event_name: nameOfFirst, event_type: type } = payload;
  const named = textOf(name) ?? textOf(nameOfFirst) ?? textOf(type);
  decoded.events.push(draftOf(payload, named ?? 'pageview', distinctId));
}

function draftOf(payload: JsonObject, name: string, distinctId: string | undefined): EventDraft {
  const draft = new EventDraft(name);
  draft.distinctId = distinctId;
  const seconds = payload['timestamp'];
  draft.timeMs = typeof seconds === 'number' ? timeMsOf(seconds * 1_000) : undefined;
  const { properties } = draft;
  properties.putText('$url', pageUrl(payload));
  properties.putText('$referrer', escapedOnce(payload['referrer']));
  properties.put('title', titleOf(payload));
  properties.put('$locale', textOf(payload['language']));
  properties.put('screen', textOf(payload['screen']));
  properties.put('tag', textOf(payload['tag']));
  properties.put('value', payload['event_value']);
  const sent = payload['data'] ?? payload['event_data'];
  const data = isObject(sent) ? sent : {};
  putRevenue(properties, data);
  properties.putAll(data);
  return draft;
}

/** The tracker writes a title in the way of an address. */
function titleOf(payload: JsonObject): string | undefined {
  const title = textOf(payload['title']);
  if (title === undefined || !/%[\da-f]{2}/i.test(title)) return title;
  try {
    return decodeURIComponent(title);
  } catch {
    return title;
  }
}

/** What is escaped in an address already, the tracker escapes once more. */
function escapedOnce(address: unknown): string | undefined {
  return textOf(address)?.replace(/%25(?=[\da-f]{2})/gi, '%');
}

/** The host stands beside a path. */
function pageUrl({ url, hostname }: JsonObject): string | undefined {
  const path = escapedOnce(url);
  const host = textOf(hostname);
  return path?.startsWith('/') === true && host !== undefined ? `https://${host}${path}` : path;
}

/** The tracker sends the token back as x-umami-cache; nothing here needs one. */
const done = jsonBody({ cache: 'millrace' });

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'umami',
  keyOf: (_head, json) => keyIn(fieldOf(fieldOf(itemsOf(json)[0], 'payload'), 'website'), 'body'),
  decode,
  answers: { ...usualAnswers, accepted: { status: 200, body: () => done } },
};

export const umami: Family = {
  paths: new Map<string, Endpoint>([
    ['/api/send', collect],
    ['/api/batch', collect],
    ['/api/collect', collect],
  ]),
};
