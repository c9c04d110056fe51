// Matomo's tracking API: one hit in a query, in a form as matomo.js sends it, or in both; or a list of queries.

import { fieldOf } from '../../../../platform/json.ts';
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
import { objectIn, textOf, timeMsOf } from '../../mapping/sent-values.ts';

type Hit = URLSearchParams;

function hitsOf({ query }: SentHead, json: unknown): readonly (Hit | undefined)[] {
  const requests = fieldOf(json, 'requests');
  const form = json instanceof URLSearchParams ? [...json] : [];
  if (!Array.isArray(requests)) {
    const hit = new URLSearchParams([...query, ...form]);
    return hit.has('idsite') ? [hit] : [];
  }
  return requests.map((text: unknown) =>
    typeof text === 'string' ? new URLSearchParams(text.replace(/^[^?&=]*\?/, '')) : undefined,
  );
}

/** `token_auth` is a server's, where it is a key of ours; `idsite` names the project. */
function keyOf(head: SentHead, json: unknown): SentKey | undefined {
  const [hit] = hitsOf(head, json);
  const ofBody = textOf(fieldOf(json, 'token_auth'));
  const token = ofBody ?? hit?.get('token_auth');
  const isOurs = token?.startsWith('prv_') || token?.startsWith('pub_');
  const [name, text] = isOurs ? ['token_auth', token] : ['idsite', hit?.get('idsite')];
  return keyIn(text, head.query.get(name) === text ? 'url' : 'body');
}

function decode(head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  for (const hit of hitsOf(head, json)) {
    if (hit === undefined) decoded.unreadable++;
    else if (!isPing(hit)) decodeHit(hit, decoded);
  }
  return decoded;
}

/** A page that is still open says so every few seconds: no event, and no view. */
function isPing(hit: Hit): boolean {
  return hit.has('ping');
}

function decodeHit(hit: Hit, decoded: Decoded): void {
  decoded.events.push(draftOf(hit));
  const [externalId, anonymousId] = [textOf(hit.get('uid')), textOf(hit.get('_id'))];
  if (externalId === undefined || anonymousId === undefined) return;
  const last = decoded.calls.at(-1);
  // Every hit of a user names the browser, too: one call of a request links them.
  if (last?.externalId === externalId && last.anonymousId === anonymousId) return;
  decoded.calls.push({ externalId, anonymousId });
}

/** What a hit is about, by the parameter that only such hits have. */
const names: readonly (readonly [parameter: string, name: string])[] = [
  ['link', 'outbound_click'],
  ['download', 'file_downloaded'],
  ['search', 'search'],
  ['ec_id', 'purchase'],
  ['idgoal', 'goal'],
  ['c_n', 'content'],
];
/** These have the address of the link or the file as their property `url`. */
const addressed: ReadonlySet<string> = new Set(['link', 'download']);

const texts = [
  ['url', '$url'],
  ['urlref', '$referrer'],
  ['_rcn', '$utmCampaign'],
] as const;
const values = [
  ['action_name', 'title'],
  ['lang', '$locale'],
  ['res', 'screen'],
  ['e_c', 'category'],
  ['e_n', 'name'],
  ['search', 'query'],
  ['search_cat', 'search_category'],
  ['idgoal', 'goal_id'],
  ['ec_id', 'order_id'],
  ['ec_items', 'items'],
  ['c_n', 'content_name'],
  ['c_p', 'content_piece'],
  ['c_t', 'content_target'],
  ['c_i', 'content_interaction'],
] as const;
const numbers = [
  ['e_v', 'value'],
  ['revenue', 'amount'],
  ['search_count', 'search_count'],
] as const;

/** What plugins send, such as of videos, is marked as no view. */
function otherName(hit: Hit): string {
  return hit.get('ca') === '1' ? 'custom_action' : 'pageview';
}

function draftOf(hit: Hit): EventDraft {
  const named = names.find(([parameter]) => hit.has(parameter));
  const draft = new EventDraft(textOf(hit.get('e_a')) ?? named?.[1] ?? otherName(hit));
  draft.distinctId = textOf(hit.get('uid')) ?? textOf(hit.get('_id')) ?? textOf(hit.get('cid'));
  draft.timeMs = timeOf(hit.get('cdt'));
  const { properties } = draft;
  for (const [parameter, name] of texts) properties.putText(name, hit.get(parameter));
  for (const [parameter, name] of values) properties.put(name, textOf(hit.get(parameter)));
  for (const [parameter, name] of numbers) {
    const text = textOf(hit.get(parameter));
    if (text !== undefined && Number.isFinite(Number(text))) properties.put(name, Number(text));
  }
  if (named !== undefined && addressed.has(named[0])) {
    properties.put('url', textOf(hit.get(named[0])));
  }
  for (const parameter of ['cvar', '_cvar']) putVariables(draft, hit.get(parameter));
  for (const [parameter, value] of hit) {
    if (/^dimension\d{1,4}$/.test(parameter)) properties.put(parameter, value);
  }
  return draft;
}

/** `{"1":["name","value"]}` */
function putVariables({ properties }: EventDraft, text: string | null): void {
  for (const pair of Object.values(objectIn(text ?? undefined) ?? {})) {
    if (Array.isArray(pair) && typeof pair[0] === 'string') properties.put(pair[0], pair[1]);
  }
}

/** Seconds, or `2011-04-05 00:11:42` in UTC. */
function timeOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text) * 1_000;
  return timeMsOf(text);
}

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'matomo',
  keyOf,
  decode,
  readForm: (text) => new URLSearchParams(text),
  answers: {
    ...usualAnswers,
    accepted: {
      status: 200,
      body: (tracked) => jsonBody({ status: 'success', tracked, invalid: 0 }),
    },
  },
  takesGet: true,
};

export const matomo: Family = {
  paths: new Map<string, Endpoint>([
    ['/matomo.php', collect],
    ['/piwik.php', collect],
  ]),
};
