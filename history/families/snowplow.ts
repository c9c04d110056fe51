// Snowplow's enriched events: 131 columns between tabs, without a header. They become the parameters that the trackers
// send, and what the enrichments found is added.

import { snowplowDraft } from '../../ingest/compat/families/snowplow.ts';
import { objectIn, textOf, timeMsOf } from '../../ingest/compat/mapping/sent-values.ts';
import { fieldOf } from '../../platform/json.ts';
import { countryCode } from '../describe/country-names.ts';
import { putDescribed } from '../describe/described.ts';
import { type HistoryFamily, liveDoubtMs, type RowSink, reasons } from './history-family.ts';

export const snowplow: HistoryFamily = {
  ...{ name: 'snowplow', form: 'tabs', timeDoubtMs: liveDoubtMs },
  decode,
};

const columnCount = 131;

/** Places of columns, from 1, as the documentation counts them. */
const sent = {
  p: 2,
  tna: 9,
  tv: 10,
  uid: 13,
  duid: 16,
  vid: 17,
  nuid: 18,
  url: 30,
  page: 31,
  refr: 32,
  co: 53,
  se_ca: 54,
  se_ac: 55,
  se_la: 56,
  se_pr: 57,
  se_va: 58,
  ue_pr: 59,
  tr_id: 60,
  tr_tt: 62,
  pp_max: 77,
  lang: 84,
  tz: 101,
  tr_cu: 109,
  sid: 124,
} as const;
const columns = {
  collector: 4,
  event: 6,
  id: 7,
  country: 19,
  region: 25,
  city: 21,
  agent: 78,
  browser: 79,
  os: 98,
  deviceType: 102,
  derivedContexts: 123,
  medium: 48,
  source: 49,
  term: 50,
  content: 51,
  campaign: 52,
  derived: 125,
  name: 127,
  fingerprint: 130,
  trueTime: 131,
} as const;

/** The trackers' codes of events. */
const codes: ReadonlyMap<string, string> = new Map([
  ['page_view', 'pv'],
  ['page_ping', 'pp'],
  ['struct', 'se'],
  ['unstruct', 'ue'],
  ['transaction', 'tr'],
  ['transaction_item', 'ti'],
]);

function decode(value: unknown, sink: RowSink): string | undefined {
  if (!Array.isArray(value)) return reasons.row_object;
  // A line that ends with the file's last line end is none.
  if (value.length === 1 && value[0] === '') return undefined;
  if (value.length !== columnCount) return reasons.row_columns;
  const at = (place: number): string | undefined => textOf(value[place - 1]);
  // `2026-03-04 09:15:00.223`, which is in UTC; a fraction of none is left out.
  const times = [columns.trueTime, columns.derived, columns.collector];
  const time = times.map((place) => timeMsOf(at(place))).find((ms) => ms !== undefined);
  if (time === undefined) return reasons.event_time;
  const item: Record<string, unknown> = { e: codes.get(at(columns.event) ?? ''), ttm: time };
  for (const [parameter, place] of Object.entries(sent)) item[parameter] = at(place);
  item['e'] ??= at(columns.event);
  item['co'] = { data: [...entitiesOf(at(sent.co)), ...entitiesOf(at(columns.derivedContexts))] };
  const draft = snowplowDraft(item);
  // One id with two contents is two events; the same content again is one.
  draft.id = JSON.stringify([at(columns.id), at(columns.fingerprint)]);
  if (at(columns.fingerprint) === undefined) draft.id = at(columns.id);
  const { properties } = draft;
  properties.put('$country', countryCode(at(columns.country)));
  for (const [name, place] of texts) properties.putText(name, at(place));
  putDescribed(draft, { url: at(sent.url), referrer: at(sent.refr), userAgent: at(columns.agent) });
  if (draft.distinctId === undefined) return reasons.no_person;
  sink.event(draft);
  const [user, device] = [at(sent.uid), at(sent.duid)];
  if (user !== undefined && device !== undefined) {
    sink.call({ externalId: user, anonymousId: device }, time);
  }
  return undefined;
}

function entitiesOf(contexts: string | undefined): unknown[] {
  const data = fieldOf(objectIn(contexts), 'data');
  return Array.isArray(data) ? data : [];
}

const texts = [
  ['$region', columns.region],
  ['$city', columns.city],
  ['$browser', columns.browser],
  ['$os', columns.os],
  ['$deviceType', columns.deviceType],
  ['$utmMedium', columns.medium],
  ['$utmSource', columns.source],
  ['$utmTerm', columns.term],
  ['$utmContent', columns.content],
  ['$utmCampaign', columns.campaign],
] as const;
