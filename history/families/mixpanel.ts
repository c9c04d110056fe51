// Mixpanel's raw export. Projects from before 2023 count their seconds in the project's zone, and no line says so: the
// moment of processing, which is in UTC, tells.

import { decodeTrack } from '../../ingest/compat/families/mixpanel.ts';
import type { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { idText, textOf } from '../../ingest/compat/mapping/sent-values.ts';
import { fieldOf, isObject, type JsonObject } from '../../platform/json.ts';
import { countryCode } from '../describe/country-names.ts';
import { putDescribed } from '../describe/described.ts';
import { momentOf, quarterMs } from '../describe/zone-time.ts';
import type { Row } from '../files/rows.ts';
import { type HistoryFamily, type RowSink, reasons, zoneDoubtMs } from './history-family.ts';

/** `zone`: of the project, where its seconds are not UTC's. */
export function createMixpanel(zone: string | undefined): HistoryFamily {
  return {
    ...{ name: 'mixpanel', form: 'json lines', timeDoubtMs: zoneDoubtMs },
    doubt: (rows) => doubtOf(rows, zone),
    decode: (value, sink) => decode(value, zone, sink),
  };
}

/** Events are processed seconds after they occur; further off than any zone, it was an import of Mixpanel's own. */
const maxZoneMs = 15 * 3_600_000;
const msFrom = 100_000_000_000;
/** The last moment of a Date. */
const maxClockMs = 8_640_000_000_000_000;

/** Of whole seconds, or of milliseconds where the export was asked for them; undefined where no clock shows it. */
function wallMsOf(time: unknown): number | undefined {
  const number = Number(idText(time));
  const ms = number < msFrom ? number * 1_000 : number;
  return ms >= 0 && ms <= maxClockMs ? ms : undefined;
}

/** By how many quarters of an hour each event was processed after its time, least first. */
function lateQuarters(rows: readonly Row[], zone: string | undefined): number[] {
  const late = rows.flatMap(({ value }) => {
    const properties = fieldOf(value, 'properties');
    const wallMs = wallMsOf(fieldOf(properties, 'time'));
    const processedMs = fieldOf(properties, 'mp_processing_time_ms');
    if (wallMs === undefined || typeof processedMs !== 'number') return [];
    return [processedMs - (zone === undefined ? wallMs : momentOf(wallMs, zone))];
  });
  const near = late.filter((ms) => Math.abs(ms) < maxZoneMs);
  return near.map((ms) => Math.round(ms / quarterMs)).toSorted((one, other) => one - other);
}

function doubtOf(rows: readonly Row[], zone: string | undefined): string | undefined {
  const late = lateQuarters(rows, zone);
  const [least, median] = [late[0], late[late.length >> 1]];
  if (least === undefined || median === undefined || median === 0 || least === 0) return undefined;
  const hours = (-median * quarterMs) / 3_600_000;
  const offset = `${hours < 0 ? '-' : '+'}${Math.abs(hours)} h`;
  if (zone === undefined) {
    return (
      `its times are ${offset} off UTC, as in projects from before 2023: give the project's zone with --zone, ` +
      'such as --zone America/Los_Angeles, or --zone UTC where its events were sent late'
    );
  }
  // A wrong zone is off by as much for nearly all; events that were sent late are so by more or less.
  const alike = late.filter((quarters) => quarters === median).length;
  const isLate = least > 0 && (zone === 'UTC' || 2 * alike < late.length);
  return isLate
    ? undefined
    : `its times are still ${offset} off with --zone ${zone}: it is another zone, or none`;
}

function decode(value: unknown, zone: string | undefined, sink: RowSink): string | undefined {
  if (!isObject(value)) return reasons.row_object;
  const properties = fieldOf(value, 'properties');
  const { events, calls } = decodeTrack(undefined, value);
  const [draft] = events;
  if (draft === undefined || !isObject(properties)) return reasons.event_name;
  const wallMs = wallMsOf(properties['time']);
  if (wallMs === undefined) return reasons.event_time;
  draft.timeMs = zone === undefined ? wallMs : momentOf(wallMs, zone);
  putPlace(draft, properties);
  sink.event(draft);
  // A link that Mixpanel refused is none.
  if (properties['$failure_reason'] !== undefined) return undefined;
  for (const call of calls) sink.call(call, draft.timeMs);
  putLinks(properties, draft.timeMs, sink);
  return undefined;
}

function putPlace(draft: EventDraft, properties: JsonObject): void {
  draft.properties.put('$country', countryCode(properties['mp_country_code']));
  draft.properties.putText('$region', properties['$region']);
  draft.properties.putText('$city', properties['$city']);
  const { $current_url: url, $referrer: referrer } = properties;
  putDescribed(draft, { url, referrer: referrer === '$direct' ? undefined : referrer });
}

function putLinks(properties: JsonObject, timeMs: number, sink: RowSink): void {
  const user = idText(properties['$user_id']);
  const device = textOf(properties['$device_id']);
  if (user !== undefined && device !== undefined) {
    sink.call({ externalId: user, anonymousId: `$device:${device}` }, timeMs);
  }
  const merged = properties['$distinct_ids'];
  if (Array.isArray(merged) && merged.length === 2) {
    sink.call({ externalId: merged[0], alias: merged[1] }, timeMs);
  }
}
