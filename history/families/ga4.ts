// GA4's export to BigQuery, exported from there as JSON lines or Parquet. Its parameters name their types; integers are
// texts; there is no id of an event.

import { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { idText, textOf } from '../../ingest/compat/mapping/sent-values.ts';
import { fieldOf, isObject, type JsonObject } from '../../platform/json.ts';
import { countryCode } from '../describe/country-names.ts';
import { putDescribed } from '../describe/described.ts';
import { type HistoryFamily, type RowSink, reasons } from './history-family.ts';

export const ga4: HistoryFamily = { name: 'ga4', form: 'json lines', decode };

type Params = ReadonlyMap<string, unknown>;

function decode(value: unknown, sink: RowSink): string | undefined {
  if (!isObject(value)) return reasons.row_object;
  const name = textOf(value['event_name']);
  if (name === undefined) return reasons.event_name;
  const micros = Number(idText(value['event_timestamp']));
  if (!Number.isSafeInteger(micros)) return reasons.event_time;
  // Who did not consent has no id, and no visit.
  const visitor = idText(value['user_pseudo_id']);
  const distinctId = idText(value['user_id']) ?? visitor;
  if (distinctId === undefined) return reasons.no_person;
  const params = paramsOf(value['event_params']);
  const draft = new EventDraft(name);
  draft.timeMs = Math.floor(micros / 1_000);
  draft.distinctId = distinctId;
  draft.id = keyOf(value, name, visitor, params);
  const session = idText(params.get('ga_session_id'));
  if (session !== undefined) draft.session = `${visitor ?? distinctId}/${session}`;
  putProperties(draft, name, value, params);
  sink.event(draft);
  addCall(value, visitor, draft.timeMs, sink);
  return undefined;
}

/** A key changes its type from event to event: the first value that is there counts. */
function paramsOf(list: unknown): Params {
  const params = new Map<string, unknown>();
  if (!Array.isArray(list)) return params;
  for (const item of list) {
    const key = textOf(fieldOf(item, 'key'));
    const value = fieldOf(item, 'value');
    if (key === undefined) continue;
    params.set(
      key,
      fieldOf(value, 'string_value') ??
        numberOf(fieldOf(value, 'int_value')) ??
        numberOf(fieldOf(value, 'double_value')) ??
        numberOf(fieldOf(value, 'float_value')),
    );
  }
  return params;
}

/** An integer that a number cannot hold stays a text. */
function numberOf(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? undefined;
  const number = Number(value);
  return value === '' || !Number.isSafeInteger(number) ? value : number;
}

/** All rows of a batch may share their moment; rows from before the batch's fields differ by their parameters. */
function keyOf(row: JsonObject, name: string, visitor: string | undefined, params: Params): string {
  const places = [row['batch_page_id'], row['batch_ordering_id'], row['batch_event_index']];
  const [, , index] = places;
  const hasBatch = index !== undefined && index !== null && typeof index !== 'object';
  const rest = hasBatch ? places.map(placeText) : [...params].sort();
  return JSON.stringify([row['stream_id'], visitor, String(row['event_timestamp']), name, ...rest]);
}

/** Of what is absent its name: ids of events that are stored hold it. An object may have no text. */
function placeText(place: unknown): string {
  return typeof place === 'object' && place !== null ? '' : String(place);
}

const empty: ReadonlySet<unknown> = new Set(['(not set)', '(direct)', '(none)', '', null]);
const known = (value: unknown): unknown => (empty.has(value) ? undefined : value);

/** What our kinds ask for, from the parameter or the first item that has it: a kind keeps its meaning. */
const wanted: readonly (readonly [kind: string, property: string, parameter: string])[] = [
  ['search', 'query', 'search_term'],
  ['screen_view', 'screen_name', 'firebase_screen'],
  ['app_update', 'app_version', 'previous_app_version'],
];
const ofItems: ReadonlySet<string> = new Set(['add_to_cart', 'remove_from_cart', 'view_item']);

function putProperties(draft: EventDraft, name: string, row: JsonObject, params: Params): void {
  const { properties } = draft;
  const url = params.get('page_location');
  const referrer = params.get('page_referrer');
  properties.putText('$url', url);
  properties.putText('$referrer', referrer);
  properties.put('title', params.get('page_title'));
  for (const [kind, property, parameter] of wanted) {
    if (name === kind) properties.put(property, params.get(parameter));
  }
  const items = row['items'];
  if (Array.isArray(items) && items.length > 0) {
    if (ofItems.has(name)) properties.put('product_id', fieldOf(items[0], 'item_id'));
    properties.put('items', items);
  }
  putMoney(draft, row, params);
  for (const [key, value] of params) properties.put(key, known(value));
  putDevice(draft, row);
  putDescribed(draft, { url, referrer });
}

function putMoney({ properties }: EventDraft, row: JsonObject, params: Params): void {
  const ecommerce = row['ecommerce'];
  properties.put('order_id', known(fieldOf(ecommerce, 'transaction_id')));
  properties.put('amount', params.get('value') ?? fieldOf(ecommerce, 'purchase_revenue'));
}

/** `traffic_source` is the user's first one, not the event's: it is left out. */
function putDevice({ properties }: EventDraft, row: JsonObject): void {
  const device = row['device'];
  const web = fieldOf(device, 'web_info');
  properties.putText('$browser', known(fieldOf(web, 'browser') ?? fieldOf(device, 'browser')));
  properties.putText('$browserVersion', known(fieldOf(web, 'browser_version')));
  properties.putText('$os', known(fieldOf(device, 'operating_system')));
  properties.putText('$osVersion', known(fieldOf(device, 'operating_system_version')));
  properties.putText('$device', known(fieldOf(device, 'mobile_model_name')));
  properties.putText('$deviceType', known(fieldOf(device, 'category')));
  properties.put('$locale', known(fieldOf(device, 'language')));
  properties.put('$platform', known(row['platform']));
  const geo = row['geo'];
  properties.put('$country', countryCode(fieldOf(geo, 'country')));
  properties.putText('$region', known(fieldOf(geo, 'region')));
  properties.putText('$city', known(fieldOf(geo, 'city')));
  const source = fieldOf(row['collected_traffic_source'], 'manual_source');
  properties.putText('$utmSource', known(source));
  for (const [field, own] of campaigns) {
    properties.putText(own, known(fieldOf(row['collected_traffic_source'], field)));
  }
}

const campaigns = [
  ['manual_medium', '$utmMedium'],
  ['manual_campaign_name', '$utmCampaign'],
  ['manual_term', '$utmTerm'],
  ['manual_content', '$utmContent'],
] as const;

function addCall(
  row: JsonObject,
  visitor: string | undefined,
  timeMs: number,
  sink: RowSink,
): void {
  const userId = idText(row['user_id']);
  if (userId === undefined) return;
  const traits = Object.fromEntries(paramsOf(row['user_properties']));
  sink.call({ externalId: userId, anonymousId: visitor, traits }, timeMs);
}
