// Amplitude's export, which has the events as they came, with the names of its own columns.

import { decodeAmplitude } from '../../ingest/compat/families/amplitude.ts';
import { idText, textOf, timeMsOf } from '../../ingest/compat/mapping/sent-values.ts';
import { isUuid } from '../../ingest/validation/text/uuid.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import { countryCode } from '../describe/country-names.ts';
import { putDescribed } from '../describe/described.ts';
import { type HistoryFamily, liveDoubtMs, type RowSink, reasons } from './history-family.ts';

export const amplitude: HistoryFamily = {
  ...{ name: 'amplitude', form: 'json lines', timeDoubtMs: liveDoubtMs },
  decode,
};

/** An initial value that nobody set. */
const unset = 'EMPTY';

function decode(value: unknown, sink: RowSink): string | undefined {
  if (!isObject(value)) return reasons.row_object;
  // `2026-03-04 09:15:00.123000`, which is in UTC.
  const time = timeMsOf(textOf(value['event_time']));
  if (time === undefined) return reasons.event_time;
  const { events, calls } = decodeAmplitude(undefined, { events: [sentForm(value, time)] });
  const [draft] = events;
  if (draft === undefined) return reasons.event_name;
  const { properties } = draft;
  properties.put('$country', countryCode(value['country']));
  properties.putText('$region', value['region']);
  properties.putText('$city', value['city']);
  const sent = isObject(value['event_properties']) ? value['event_properties'] : {};
  const url = sent['[Amplitude] Page URL'] ?? sent['[Amplitude] Page Location'];
  properties.putText('$url', url);
  const referrer = sent['referrer'] ?? sent['[Amplitude] Previous Page Location'];
  putDescribed(draft, { url, referrer });
  sink.event(draft);
  for (const call of calls) sink.call(call, time);
  return undefined;
}

/** The row as the SDK's request for it. */
function sentForm(row: JsonObject, time: number): JsonObject {
  const isWeb = row['platform'] === 'Web';
  const traits = setTraits(row['user_properties']);
  const isIdentify = row['event_type'] === '$identify';
  const event: Record<string, unknown> = {
    ...row,
    time,
    insert_id: idOf(row),
    app_version: row['version_name'],
    group_properties: isEmpty(row['group_properties']) ? undefined : row['group_properties'],
    user_properties: isIdentify ? { $set: traits } : traits,
  };
  // Of a page the columns of the system hold the browser, and the device's family is the system.
  if (isWeb) {
    const sent = isObject(row['event_properties']) ? row['event_properties'] : {};
    event['os_name'] = undefined;
    event['os_version'] = undefined;
    event['event_properties'] = {
      ...sent,
      $browser: row['os_name'],
      $browserVersion: row['os_version'],
      $os: row['device_type'],
      $device: row['device_model'],
    };
  }
  return event;
}

/** The SDK's own id where it is a UUID, as SDKs make it; others are one only with their device, for a week. */
function idOf(row: JsonObject): string | undefined {
  const insertId = idText(row['$insert_id']);
  return insertId !== undefined && isUuid(insertId) ? insertId : idText(row['uuid']);
}

function setTraits(traits: unknown): JsonObject {
  if (!isObject(traits)) return {};
  return Object.fromEntries(
    Object.entries(traits).filter(([, value]) => value !== unset && value !== null),
  );
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
