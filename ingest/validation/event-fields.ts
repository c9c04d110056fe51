// Reads the members of an event, named as in protobuf JSON (snake_case or camelCase), into one reusable record. Knows
// the names and no rules. The names stand once more in the scanner (assembly/event/names.ts, which AssemblyScript
// compiles, and verdict.ts) and in the pipeline's reference-rows.ts (another service); tests hold these to each other.

import type { JsonObject } from '../../platform/json.ts';

/** undefined: not sent. null counts as not sent too, and is kept so that a second spelling is noticed. */
export class EventFields {
  eventId: unknown = undefined;
  autoProperties: unknown = undefined;
  customProperties: unknown = undefined;
  distinctId: unknown = undefined;
  kind: unknown = undefined;
  occurTime: unknown = undefined;
  sessionId: unknown = undefined;
  cookieless: unknown = undefined;
}

/** The counts of a request that its check takes in the same pass. */
export interface Tally {
  events: number;
  /** Events that say `cookieless: true`. */
  cookieless: number;
  /** Cookieless events whose occurTime is in the UTC day of receipt, and in the day before. */
  cookielessToday: number;
  cookielessYesterday: number;
  /** A cookieless event is within `sessionInactivityMs` of the midnight between these days. */
  cookielessAtMidnight: boolean;
}

export function newTally(): Tally {
  return {
    events: 0,
    cookieless: 0,
    cookielessToday: 0,
    cookielessYesterday: 0,
    cookielessAtMidnight: false,
  };
}

/**
 * Fills `fields` from `event` and returns the name of a field that is given in both spellings, if there is one. Takes
 * one pass over the members and skips unknown ones. Each store is written out: a store under a computed name costs
 * more than all rules of an event's own fields together.
 */
export function readEventFields(
  event: JsonObject,
  fields: EventFields,
): keyof EventFields | undefined {
  clear(fields);
  for (const name in event) {
    const value = event[name];
    switch (name) {
      case 'eventId':
      case 'event_id':
        if (fields.eventId !== undefined) return 'eventId';
        fields.eventId = value;
        break;
      case 'kind':
        fields.kind = value;
        break;
      case 'distinctId':
      case 'distinct_id':
        if (fields.distinctId !== undefined) return 'distinctId';
        fields.distinctId = value;
        break;
      case 'sessionId':
      case 'session_id':
        if (fields.sessionId !== undefined) return 'sessionId';
        fields.sessionId = value;
        break;
      case 'occurTime':
      case 'occur_time':
        if (fields.occurTime !== undefined) return 'occurTime';
        fields.occurTime = value;
        break;
      case 'autoProperties':
      case 'auto_properties':
        if (fields.autoProperties !== undefined) return 'autoProperties';
        fields.autoProperties = value;
        break;
      case 'customProperties':
      case 'custom_properties':
        if (fields.customProperties !== undefined) return 'customProperties';
        fields.customProperties = value;
        break;
      case 'cookieless':
        fields.cookieless = value;
        break;
    }
  }
  return undefined;
}

function clear(fields: EventFields): void {
  fields.eventId = undefined;
  fields.autoProperties = undefined;
  fields.customProperties = undefined;
  fields.distinctId = undefined;
  fields.kind = undefined;
  fields.occurTime = undefined;
  fields.sessionId = undefined;
  fields.cookieless = undefined;
}
