// Umami Cloud's export: a CSV of events, and one of their data, a line a value. `session_id` is the visitor there, and
// `visit_id` the visit.

import { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { objectIn, textOf, timeMsOf } from '../../ingest/compat/mapping/sent-values.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import { countryCode } from '../describe/country-names.ts';
import { putDescribed } from '../describe/described.ts';
import { readLines } from '../files/lines.ts';
import type { Input } from '../files/open-input.ts';
import { UnreadableFile } from '../files/unreadable-file.ts';
import { type HistoryFamily, type RowSink, reasons } from './history-family.ts';

/** Values that wait for their event's line. */
const maxValues = 2_000_000;

export function createUmami(): HistoryFamily {
  const data = new Map<string, [key: string, value: unknown][]>();
  let values = 0;
  const keep = (event: string, row: JsonObject): undefined => {
    if (++values > maxValues) {
      throw new UnreadableFile(`more than ${maxValues} values of events: import shorter exports`);
    }
    const known = data.get(event) ?? [];
    known.push([String(row['data_key']), dataOf(row)]);
    data.set(event, known);
  };
  return {
    ...{ name: 'umami', form: 'csv' },
    order: dataFirst,
    decode(row, sink) {
      if (!isObject(row)) return reasons.row_object;
      const event = textOf(row['website_event_id']) ?? textOf(row['event_id']);
      if (row['data_key'] !== undefined) {
        return event === undefined ? reasons.no_action : keep(event, row);
      }
      return decode(row, (event && data.get(event)) || [], sink);
    },
  };
}

/** The data must be known before its events are read. Its header tells it, whatever the name of its file. */
async function dataFirst(inputs: readonly Input[]): Promise<readonly Input[]> {
  if (inputs.length < 2) return inputs;
  const [data, others]: [Input[], Input[]] = [[], []];
  for (const input of inputs) ((await hasData(input)) ? data : others).push(input);
  return [...data, ...others];
}

async function hasData({ content, bytes }: Input): Promise<boolean> {
  // Standard input is read once.
  if (content.kind !== 'bytes' || bytes === 0) return false;
  for await (const [header] of readLines(content.open(() => {}))) {
    return header?.text.includes('data_key') === true;
  }
  return false;
}

/** A null, as dumps of databases write it. */
const known = (value: unknown): string | undefined => (value === '\\N' ? undefined : textOf(value));

/** All types stand in the text; the number beside it is rounded. */
function dataOf(row: JsonObject): unknown {
  const text = known(row['string_value']);
  switch (row['data_type']) {
    case '2':
      return text === undefined ? numberOf(row['number_value']) : numberOf(text);
    case '3':
      return text === 'true';
    case '4': {
      const timeMs = timeMsOf(known(row['date_value'])) ?? timeMsOf(text);
      return timeMs === undefined ? text : new Date(timeMs).toISOString();
    }
    case '5':
      return objectIn(text) ?? text;
    default:
      return text;
  }
}

function numberOf(text: unknown): number | undefined {
  const number = textOf(text) === undefined ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}

const pageView = '1';
const performance = '5';

function decode(
  row: JsonObject,
  data: readonly [key: string, value: unknown][],
  sink: RowSink,
): string | undefined {
  // `2026-03-04 09:15:00` in UTC, or with the offset that Postgres writes.
  const timeMs = timeMsOf(known(row['created_at']));
  if (timeMs === undefined) return reasons.event_time;
  const type = known(row['event_type']);
  if (type === performance) return reasons.no_action;
  const visitor = known(row['session_id']);
  if (visitor === undefined) return reasons.no_person;
  const draft = new EventDraft(
    (type === pageView ? undefined : known(row['event_name'])) ?? 'pageview',
  );
  draft.id = known(row['event_id']);
  draft.timeMs = timeMs;
  const user = known(row['distinct_id']);
  draft.distinctId = user ?? visitor;
  draft.session = known(row['visit_id']);
  putProperties(draft, row, data);
  sink.event(draft);
  if (user !== undefined) sink.call({ externalId: user, anonymousId: visitor }, timeMs);
  return undefined;
}

const texts = [
  ['browser', '$browser'],
  ['os', '$os'],
  ['device', '$deviceType'],
  ['city', '$city'],
  ['utm_source', '$utmSource'],
  ['utm_medium', '$utmMedium'],
  ['utm_campaign', '$utmCampaign'],
  ['utm_content', '$utmContent'],
  ['utm_term', '$utmTerm'],
] as const;
const values = [
  ['page_title', 'title'],
  ['language', '$locale'],
  ['screen', 'screen'],
  ['tag', 'tag'],
] as const;
/** Kept as names alone: a click id names a person. */
const clickIds = ['gclid', 'fbclid', 'msclkid', 'ttclid', 'li_fat_id', 'twclid'] as const;

function putProperties(
  draft: EventDraft,
  row: JsonObject,
  data: readonly [key: string, value: unknown][],
): void {
  const { properties } = draft;
  const url = addressOf(row['hostname'], row['url_path'], queryOf(row));
  const domain = known(row['referrer_domain']);
  const referrer =
    domain === undefined
      ? undefined
      : addressOf(domain, row['referrer_path'], known(row['referrer_query']) ?? '');
  properties.putText('$url', url);
  properties.putText('$referrer', referrer);
  for (const [column, name] of texts) properties.putText(name, known(row[column]));
  for (const [column, name] of values) properties.put(name, known(row[column]));
  properties.put('$country', countryCode(row['country']));
  // `DE-BE`
  properties.putText('$region', known(row['region'])?.replace(/^[A-Z]{2}-/, ''));
  for (const [key, value] of data) properties.put(key, value);
  putDescribed(draft, { url, referrer });
}

function queryOf(row: JsonObject): string {
  const clicks = clickIds.filter((name) => known(row[name]) !== undefined);
  const query = known(row['url_query']) ?? '';
  const missing = clicks.filter((name) => !query.includes(`${name}=`)).map((name) => `${name}=1`);
  return [query, ...missing].filter((part) => part !== '').join('&');
}

/** Neither scheme nor question mark is in the export. */
function addressOf(host: unknown, path: unknown, query: string): string | undefined {
  const [hostname, pathname] = [known(host), known(path) ?? '/'];
  if (hostname === undefined) return known(path);
  return `https://${hostname}${pathname}${query === '' ? '' : `?${query}`}`;
}
