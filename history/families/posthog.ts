// PostHog's batch export, as JSON lines or Parquet: a row is an event; persons, groups and aliases are events too.

import { noItems } from '../../ingest/compat/endpoint.ts';
import { decodePostHogEvent } from '../../ingest/compat/families/posthog.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import { countryCode } from '../describe/country-names.ts';
import { putDescribed } from '../describe/described.ts';
import { type HistoryFamily, liveDoubtMs, type RowSink, reasons } from './history-family.ts';

export const posthog: HistoryFamily = {
  ...{ name: 'posthog', form: 'json lines', timeDoubtMs: liveDoubtMs },
  decode,
};

function decode(value: unknown, sink: RowSink): string | undefined {
  if (!isObject(value)) return reasons.row_object;
  const properties = propertiesOf(value['properties']);
  if (properties === undefined) return reasons.row_json;
  const decoded = noItems();
  decodePostHogEvent(value, properties, undefined, decoded);
  const [draft] = decoded.events;
  if (draft === undefined) return reasons.event_name;
  draft.properties.put('$country', countryCode(properties['$geoip_country_code']));
  draft.properties.putText('$region', properties['$geoip_subdivision_1_name']);
  draft.properties.putText('$city', properties['$geoip_city_name']);
  const { $current_url: url, $referrer: referrer, $raw_user_agent: userAgent } = properties;
  putDescribed(draft, { url, referrer: referrer === '$direct' ? undefined : referrer, userAgent });
  sink.event(draft);
  for (const call of decoded.calls) sink.call(call, draft.timeMs ?? 0);
  return undefined;
}

/** An object, or its JSON text, which Parquet has. Undefined for a text that is none: it may hold all that is known. */
function propertiesOf(value: unknown): JsonObject | undefined {
  if (typeof value !== 'string' || value === '') return isObject(value) ? value : {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isObject(parsed) ? parsed : {};
  } catch {
    return undefined;
  }
}
