// The messages that Segment, RudderStack and Jitsu send alike: page, screen, track, identify, alias, group, each with a
// context. What differs is in the family's own file.

import { fieldOf, isObject, type JsonObject } from '../../../platform/json.ts';
import {
  authorizationKey,
  type Decoded,
  keyIn,
  noItems,
  type SentHead,
  type SentKey,
} from '../endpoint.ts';
import { EventDraft } from '../mapping/event-draft.ts';
import { idText, textOf, timeMsOf } from '../mapping/sent-values.ts';
import { putCampaign, putPage, putRevenue } from '../mapping/well-known-names.ts';

/** A request's key: in its head, or beside its messages. */
export function writeKeyOf(head: SentHead, json: unknown): SentKey | undefined {
  return authorizationKey(head) ?? keyIn(fieldOf(json, 'writeKey'), 'body');
}

/** A batch's messages, or the one that the body is. */
export function messagesOf(json: unknown): readonly unknown[] {
  const batch = fieldOf(json, 'batch');
  return Array.isArray(batch) ? batch : [json];
}

/** `typeOfPath`: what the path says of a message that does not name its type. */
export function decodeMessages(json: unknown, typeOfPath: string | undefined): Decoded {
  const decoded = noItems();
  const batchSentMs = timeMsOf(fieldOf(json, 'sentAt'));
  for (const message of messagesOf(json)) {
    const type = textOf(fieldOf(message, 'type')) ?? typeOfPath;
    if (!isObject(message) || type === undefined) {
      decoded.unreadable++;
      continue;
    }
    decodeMessage(message, type, batchSentMs, decoded);
  }
  return decoded;
}

function decodeMessage(
  message: JsonObject,
  type: string,
  batchSentMs: number | undefined,
  decoded: Decoded,
): void {
  const userId = idText(message['userId']);
  const anonymousId = idText(message['anonymousId']);
  switch (type) {
    case 'identify':
      if (userId === undefined) return;
      decoded.calls.push({ externalId: userId, anonymousId, traits: traitsOf(message) });
      return;
    case 'alias':
      if (userId === undefined) return;
      decoded.calls.push({ externalId: userId, alias: message['previousId'] });
      return;
    case 'group':
      decodeGroup(message, userId, batchSentMs, decoded);
      return;
    default:
      decoded.events.push(draftOf(message, type, batchSentMs));
  }
}

/** Top level, or in the context alone, as RudderStack's browser SDK has them. */
function traitsOf(message: JsonObject): JsonObject {
  const inContext = fieldOf(message['context'], 'traits');
  return {
    ...(isObject(inContext) && inContext),
    ...(isObject(message['traits']) && message['traits']),
  };
}

/** A group is a trait of who is in it, and an event that keeps what is known of the group. */
function decodeGroup(
  message: JsonObject,
  userId: string | undefined,
  batchSentMs: number | undefined,
  decoded: Decoded,
): void {
  const group = idText(message['groupId']);
  if (userId !== undefined && group !== undefined) {
    decoded.calls.push({ externalId: userId, traits: { $group_group: group } });
  }
  const draft = draftOf(message, 'group', batchSentMs);
  draft.properties.put('$group_group', group);
  draft.properties.putAll(message['traits']);
  decoded.events.push(draft);
}

function draftOf(message: JsonObject, type: string, batchSentMs: number | undefined): EventDraft {
  const event = textOf(message['event']);
  const draft = new EventDraft(type === 'track' ? (event ?? 'track') : type);
  const anonymousId = idText(message['anonymousId']);
  draft.distinctId = idText(message['userId']) ?? anonymousId;
  draft.id = idText(message['messageId']);
  // RudderStack's SDKs tell when the call was made, and beside it the time that the caller gave, if any.
  draft.timeMs = timeMsOf(message['timestamp'] ?? message['originalTimestamp']);
  draft.sentMs = timeMsOf(message['sentAt']) ?? batchSentMs;
  const context = isObject(message['context']) ? message['context'] : {};
  draft.session = sessionOf(context, anonymousId ?? draft.distinctId);
  putNames(draft, message, type);
  const sent = isObject(message['properties']) ? message['properties'] : {};
  putPage(
    draft.properties,
    type === 'page' ? { ...membersOf(context['page']), ...sent } : context['page'],
  );
  putContext(draft, context);
  putRevenue(draft.properties, sent);
  draft.properties.putAll(sent);
  const group = idText(message['groupId']) ?? idText(context['groupId']);
  if (group !== undefined) draft.properties.put('$group_group', group);
  return draft;
}

function membersOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** A page's or a screen's name; a screen needs one. */
function putNames({ properties }: EventDraft, message: JsonObject, type: string): void {
  const name = textOf(message['name']) ?? textOf(fieldOf(message['properties'], 'name'));
  if (type === 'screen') properties.put('screen_name', name);
  else properties.put('name', name);
  properties.put('category', textOf(message['category']));
}

/** RudderStack's is the millisecond in which the visit began, which others share. */
function sessionOf(context: JsonObject, visitor: string | undefined): string | undefined {
  const session = idText(context['sessionId']);
  return session === undefined ? undefined : `${visitor ?? ''}/${session}`;
}

function putContext({ properties }: EventDraft, context: JsonObject): void {
  putCampaign(properties, context['campaign']);
  properties.putText('$timezone', zoneOf(context['timezone']));
  properties.put('$locale', textOf(context['locale']));
  const library = context['library'];
  properties.put('$lib', textOf(fieldOf(library, 'name')));
  properties.put('$lib_version', textOf(fieldOf(library, 'version')));
  properties.put('$app_version', textOf(fieldOf(context['app'], 'version')));
  const os = context['os'];
  properties.putText('$os', fieldOf(os, 'name'));
  properties.putText('$osVersion', fieldOf(os, 'version'));
  properties.putText('$device', fieldOf(context['device'], 'model'));
  const screen = context['screen'];
  properties.put('$screen_width', fieldOf(screen, 'width'));
  properties.put('$screen_height', fieldOf(screen, 'height'));
}

/** A zone's name; RudderStack writes an offset such as `GMT+0000` in its place. */
function zoneOf(zone: unknown): string | undefined {
  const text = textOf(zone);
  return text?.startsWith('GMT') ? undefined : text;
}
