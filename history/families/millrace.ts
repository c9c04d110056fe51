// Millrace's own export: an event as it is stored, with its ids and the types of its values, and a person with traits
// and with all ids.

import { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { quoted } from '../../ingest/compat/mapping/property-text.ts';
import { textOf, timeMsOf } from '../../ingest/compat/mapping/sent-values.ts';
import {
  autoColumns,
  type PropertyVariant,
  propertyMaps,
} from '../../platform/clickhouse/event-columns.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import { type HistoryFamily, type RowSink, reasons } from './history-family.ts';

/** `cookieless` visitors have no profile where they come from, and one of their day here. */
export function createMillrace(): HistoryFamily {
  let cookieless = 0;
  return {
    ...{ name: 'millrace', form: 'json lines' },
    decode(value, sink) {
      if (!isObject(value)) return reasons.row_object;
      if (value['external_id'] !== undefined && isObject(value['traits'])) {
        return decodePerson(value, value['traits'], sink);
      }
      if (value['total_events'] !== undefined) return reasons.sums_of_person;
      if (value['event_id'] === undefined) return reasons.event_name;
      if (!isObject(value['string_properties'])) return reasons.flat_columns;
      if (value['cookieless'] === true) cookieless++;
      return decodeEvent(value, sink);
    },
    notes: () =>
      cookieless === 0
        ? []
        : [`${cookieless} of visitors without a cookie: each is a person of one day here`],
  };
}

function decodeEvent(row: JsonObject, sink: RowSink): string | undefined {
  const kind = textOf(row['kind']);
  if (kind === undefined) return reasons.event_name;
  const draft = new EventDraft(kind);
  draft.kind = kind;
  draft.id = textOf(row['event_id']);
  draft.timeMs = timeMsOf(row['occur_time']);
  draft.distinctId = textOf(row['distinct_id']);
  draft.session = textOf(row['session_id']);
  if (draft.timeMs === undefined) return reasons.event_time;
  for (const { column, property } of autoColumns) {
    const text = row[column];
    if (typeof text === 'string')
      draft.properties.putTyped(property, valueText('stringValue', text));
  }
  for (const { column, variant } of propertyMaps) {
    const map = row[column];
    if (!isObject(map)) continue;
    for (const name in map) draft.properties.putTyped(name, valueText(variant, map[name]));
  }
  sink.event(draft);
  return undefined;
}

/** What breaks a rule of values here is told as every sender's. */
function valueText(variant: PropertyVariant, value: unknown): string {
  const text = typeof value === 'object' ? 'none' : String(value);
  switch (variant) {
    case 'stringValue':
    case 'timestampValue':
      return `{"${variant}":${quoted(text)}}`;
    case 'intValue':
      return `{"intValue":"${text.replace(/[^0-9-]/g, '_')}"}`;
    case 'doubleValue':
      return `{"doubleValue":${Object.is(value, -0) ? '-0' : JSON.stringify(Number(text))}}`;
    case 'boolValue':
      return `{"boolValue":${value === true}}`;
    default:
      return variant satisfies never;
  }
}

/** A trait is JSON text. A person without any is named all the same. */
function decodePerson(row: JsonObject, traits: JsonObject, sink: RowSink): string | undefined {
  const externalId = textOf(row['external_id']);
  if (externalId === undefined) return reasons.no_person;
  const timeMs = timeMsOf(row['update_time']) ?? 0;
  sink.call({ externalId, traits: traitsOf(traits) }, timeMs);
  const ids: unknown = row['distinct_ids'];
  for (const alias of Array.isArray(ids) ? ids : []) sink.call({ externalId, alias }, timeMs);
  return undefined;
}

function traitsOf(texts: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]): [string, unknown][] => {
      try {
        return [[name, JSON.parse(String(text))]];
      } catch {
        return [];
      }
    }),
  );
}
