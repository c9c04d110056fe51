// Which family exported a file, by its first rows: each format has members that no other one has. The name of the file
// tells nothing, as in files/open-input.ts.

import { fieldOf, isObject, type JsonObject } from '../platform/json.ts';
import { createLineParser } from './access-log/access-log.ts';
import { accessLog } from './families.ts';
import type { Input } from './files/open-input.ts';
import { type Form, readRows } from './files/rows.ts';

/** Enough for a header, a remark and some rows of every kind. */
const lookedAtRows = 100;
/** Of its tab-separated columns. */
const snowplowColumns = 131;

type Tells = (row: JsonObject) => boolean;

const has =
  (...names: string[]): Tells =>
  (row) =>
    names.every((name) => row[name] !== undefined);
const isMessage: Tells = (row) =>
  typeof row['type'] === 'string' && has('messageId')(row) && !has('event_type')(row);
const isRudder: Tells = (row) => {
  const library = fieldOf(fieldOf(row['context'], 'library'), 'name');
  return has('rudderId')(row) || /rudder/i.test(String(library ?? ''));
};

/** In the order in which they are asked: the first that knows a row has it. */
const tellers: readonly (readonly [family: string, form: Form, Tells])[] = [
  ['millrace', 'json lines', has('event_id', 'kind', 'occur_time')],
  ['millrace', 'json lines', has('external_id', 'traits', 'distinct_ids')],
  [
    'plausible',
    'csv',
    (row) => has('date', 'visitors')(row) && plausibleSums.some((sum) => has(sum)(row)),
  ],
  ['umami', 'csv', (row) => has('website_id')(row) || has('data_key')(row)],
  ['matomo', 'json list', has('idVisit', 'actionDetails')],
  ['ga4', 'json lines', has('event_name', 'event_timestamp')],
  [
    'amplitude',
    'json lines',
    (row) => has('event_type')(row) && amplitudeIds.some((id) => has(id)(row)),
  ],
  ['posthog', 'json lines', has('uuid', 'event', 'distinct_id')],
  ['mixpanel', 'json lines', (row) => has('event')(row) && has('time')(Object(row['properties']))],
  ['rudderstack', 'json lines', (row) => isMessage(row) && isRudder(row)],
  ['segment', 'json lines', isMessage],
];
/** Beside the visitors of a day; each of its ten tables has one of them. */
const plausibleSums = ['visit_duration', 'pageviews', 'events', 'exits', 'entrances'];
const amplitudeIds = ['amplitude_id', 'device_id', 'user_id'];

/** Undefined where no format is known. Throws what reading the file throws. */
export async function tellFamily(inputs: readonly Input[]): Promise<string | undefined> {
  // An archive may begin with a note.
  for (const input of inputs.slice(0, lookedAtInputs)) {
    const family = (await tellByRows(input)) ?? (await tellByLines(input));
    if (family !== undefined) return family;
  }
  return undefined;
}
const lookedAtInputs = 10;

async function tellByRows(input: Input): Promise<string | undefined> {
  for (const form of ['json lines', 'json list', 'csv'] as const) {
    if (input.content.kind === 'parquet' && form !== 'json lines') continue;
    const rows = await firstRows(input, form);
    for (const row of rows) {
      const teller = tellers.find(
        ([, wanted, tells]) => wanted === form && isObject(row) && tells(row),
      );
      if (teller !== undefined) return teller[0];
    }
  }
  return undefined;
}

async function tellByLines(input: Input): Promise<string | undefined> {
  if (input.content.kind === 'parquet') return undefined;
  const lines = (await firstRows(input, 'lines')).map(String);
  if (lines.some((line) => line.split('\t').length === snowplowColumns)) return 'snowplow';
  const parse = createLineParser();
  const isLog = lines.some((line) => parse(line).kind === 'line');
  return isLog ? accessLog : undefined;
}

async function firstRows(input: Input, form: Form): Promise<unknown[]> {
  const values: unknown[] = [];
  for await (const rows of readRows(input, form, () => {})) {
    values.push(...rows.slice(0, lookedAtRows).map(({ value }) => value));
    if (values.length >= lookedAtRows) break;
  }
  return values.slice(0, lookedAtRows);
}
