// @openpanel/web and @openpanel/sdk: one message a request, told from others of its path by a header.

import { fieldOf, isObject, type JsonObject } from '../../../../platform/json.ts';
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
} from '../../endpoint.ts';
import { EventDraft } from '../../mapping/event-draft.ts';
import { idText, textOf, timeMsOf } from '../../mapping/sent-values.ts';
import { putRevenue } from '../../mapping/well-known-names.ts';

/** Everything but 200 with JSON is sent three times more, with nothing that tells the repetition. */
const answers: Answers = {
  ...usualAnswers,
  accepted: { status: 200, body: () => jsonBody({ deviceId: '', sessionId: '' }) },
  unreadable: 200,
  tooLarge: 200,
};

/** The secret of a server is a private key, where there is one. */
function keyOf({ headers }: SentHead): SentKey | undefined {
  const secret = headers['openpanel-client-secret'];
  const id = headers['openpanel-client-id'];
  if (typeof secret === 'string' && secret.startsWith('prv_')) return keyIn(secret, 'header');
  return keyIn(id, 'header');
}

function decode(_head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  const payload = fieldOf(json, 'payload');
  const type = textOf(fieldOf(json, 'type'));
  if (!isObject(payload) || type === undefined) {
    decoded.unreadable++;
    return decoded;
  }
  const profileId = idText(payload['profileId']);
  switch (type) {
    case 'track':
      decodeTrack(payload, profileId, decoded);
      break;
    case 'identify':
      decoded.calls.push({ externalId: profileId, traits: traitsOf(payload) });
      break;
    case 'assign_group':
      if (profileId !== undefined) {
        decoded.calls.push({
          externalId: profileId,
          traits: { $group_group: groupText(payload['groupIds']) },
        });
      }
      break;
    case 'alias':
      decoded.calls.push({ externalId: profileId, alias: payload['alias'] });
      break;
    default:
      // Sums of a trait, groups by themselves and recordings are answered, and kept nowhere.
      break;
  }
  return decoded;
}

function decodeTrack(payload: JsonObject, profileId: string | undefined, decoded: Decoded): void {
  const name = textOf(payload['name']);
  if (name === undefined) {
    decoded.unreadable++;
    return;
  }
  const sent = isObject(payload['properties']) ? payload['properties'] : {};
  const draft = new EventDraft(name);
  const path = textOf(sent['__path']);
  if (name === 'screen_view' && path !== undefined) draft.kind = 'page_view';
  draft.distinctId = profileId;
  draft.timeMs = timeMsOf(sent['__timestamp']);
  const { properties } = draft;
  properties.putText('$url', path);
  properties.putText('$referrer', sent['__referrer']);
  properties.put('title', textOf(sent['__title']));
  properties.put('$group_group', groupText(payload['groups']));
  putRevenue(properties, { ...sent, revenue: sent['__revenue'] ?? sent['revenue'] });
  for (const key in sent) if (!own.has(key)) properties.put(key, sent[key]);
  decoded.events.push(draft);
}

/** The same for an event and a person; undefined where there is no group. */
function groupText(groups: unknown): string | undefined {
  if (!Array.isArray(groups)) return undefined;
  return textOf(groups.flatMap((group) => idText(group) ?? []).join(', '));
}

const own: ReadonlySet<string> = new Set([
  '__path',
  '__referrer',
  '__title',
  '__timestamp',
  '__revenue',
]);

function traitsOf(payload: JsonObject): JsonObject {
  const { profileId, properties, ...named } = payload;
  const custom = isObject(properties) ? properties : {};
  const traits = { ...named, ...custom };
  return Object.fromEntries(Object.entries(traits).filter(([key]) => !key.startsWith('__')));
}

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'openpanel',
  hasHead: ({ headers }) => headers['openpanel-client-id'] !== undefined,
  keyOf,
  decode,
  answers,
};

export const openpanel: Family = {
  paths: new Map<string, Endpoint>([
    ['/track', collect],
    ['/api/track', collect],
  ]),
};
