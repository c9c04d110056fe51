// Snowplow's trackers for browsers and Node: lists of flat events at tp2, or one in the query of a GET.

import { fieldOf, isObject, type JsonObject } from '../../../platform/json.ts';
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
} from '../endpoint.ts';
import { EventDraft } from '../mapping/event-draft.ts';
import { base64Json, idText, objectIn, textOf, timeMsOf } from '../mapping/sent-values.ts';

function itemsOf({ query }: SentHead, json: unknown): readonly unknown[] {
  const data = fieldOf(json, 'data');
  if (Array.isArray(data)) return data;
  return query.has('e') ? [Object.fromEntries(query)] : [];
}

function keyOf(head: SentHead, json: unknown): SentKey | undefined {
  const query = head.query.get('aid');
  if (query !== null) return keyIn(query, 'url');
  return keyIn(fieldOf(itemsOf(head, json)[0], 'aid'), 'body');
}

function decode(head: SentHead, json: unknown): Decoded {
  const decoded = noItems();
  for (const item of itemsOf(head, json)) {
    if (isObject(item) && textOf(item['e']) !== undefined) decoded.events.push(snowplowDraft(item));
    else decoded.unreadable++;
  }
  return decoded;
}

const texts = [
  ['url', '$url'],
  ['refr', '$referrer'],
  ['tz', '$timezone'],
] as const;
const values = [
  ['page', 'title'],
  ['lang', '$locale'],
  ['res', 'screen'],
  ['vp', 'viewport'],
  ['p', '$platform'],
  ['tna', 'tracker'],
  ['tv', '$lib_version'],
  ['vid', 'visit_number'],
  ['duid', '$device_id'],
  ['se_ca', 'category'],
  ['se_la', 'label'],
  ['se_pr', 'property'],
  ['tr_id', 'order_id'],
  ['tr_cu', 'currency'],
] as const;
const numbers = [
  ['se_va', 'value'],
  ['tr_tt', 'amount'],
  ['pp_max', 'scroll_max'],
] as const;

/** An event by the parameters of the tracker protocol. */
export function snowplowDraft(item: JsonObject): EventDraft {
  const self = selfDescribing(item);
  const draft = new EventDraft(nameOf(item, self?.name));
  draft.id = idText(item['eid']);
  draft.timeMs = timeMsOf(item['ttm'] ?? item['dtm']);
  draft.sentMs = timeMsOf(item['stm']);
  draft.distinctId = idText(item['uid']) ?? idText(item['duid']) ?? idText(item['nuid']);
  draft.session = idText(item['sid']);
  const { properties } = draft;
  for (const [field, name] of texts) properties.putText(name, item[field]);
  for (const [field, name] of values) properties.put(name, textOf(item[field]));
  for (const [field, name] of numbers) properties.put(name, numberOf(item[field]));
  properties.putAll(self?.data);
  putContexts(draft, objectIn(item['co']) ?? base64Json(item['cx']));
  return draft;
}

const names: ReadonlyMap<unknown, string> = new Map([
  ['pv', 'pageview'],
  ['pp', 'page_ping'],
  ['tr', 'transaction'],
  ['ti', 'transaction_item'],
]);

function nameOf(item: JsonObject, described: string | undefined): string {
  const { e } = item;
  if (e === 'se') return textOf(item['se_ac']) ?? 'structured';
  return described ?? names.get(e) ?? textOf(e) ?? 'event';
}

/** `iglu:com.acme/signed_up/jsonschema/1-0-0` with its data. */
function selfDescribing(item: JsonObject): { name: string; data: unknown } | undefined {
  const outer = objectIn(item['ue_pr']) ?? base64Json(item['ue_px']);
  const inner = fieldOf(outer, 'data');
  const name = schemaName(fieldOf(inner, 'schema'));
  return name === undefined ? undefined : { name, data: fieldOf(inner, 'data') };
}

function schemaName(schema: unknown): string | undefined {
  return textOf(textOf(schema)?.slice(0, 500).split('/')[1]);
}

/** Each entity under its schema's name, as JSON text. */
function putContexts({ properties }: EventDraft, contexts: unknown): void {
  const entities = fieldOf(contexts, 'data');
  if (!Array.isArray(entities)) return;
  for (const entity of entities) {
    const name = schemaName(fieldOf(entity, 'schema'));
    if (name !== undefined) properties.put(`context_${name}`, fieldOf(entity, 'data'));
  }
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

const collect: CollectEndpoint = {
  kind: 'collect',
  family: 'snowplow',
  keyOf,
  decode,
  answers: {
    ...usualAnswers,
    accepted: { status: 200, body: () => ({ text: 'ok', type: 'text/plain' }) },
    // What is answered 413 stays first in the SDK's queue, and nothing behind it is sent.
    tooLarge: 400,
  },
  takesGet: true,
};

export const snowplow: Family = {
  paths: new Map<string, Endpoint>([
    ['/com.snowplowanalytics.snowplow/tp2', collect],
    ['/i', collect],
  ]),
};
