// The members of an event as protobuf JSON names them, in snake_case or camelCase, read into one reusable record.
// Knows the names and nothing of the rules.

import type { JsonObject } from '../../platform/json.ts';

/** undefined: not sent. null counts as not sent as well, and is kept to notice a second spelling. */
export interface EventFields {
  eventId: unknown;
  autoProperties: unknown;
  customProperties: unknown;
  distinctId: unknown;
  kind: unknown;
  occurTime: unknown;
  sessionId: unknown;
  cookieless: unknown;
}

/** What is counted on the way through a request. */
export interface Tally {
  events: number;
  /** Events without an identity of their own. */
  cookieless: number;
  /** Of these, the ones whose occurTime is in the UTC day of receipt, or in the one before. */
  cookielessToday: number;
  cookielessYesterday: number;
  /** One of them is within half an hour of the midnight between these days. */
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

export function newEventFields(): EventFields {
  return {
    eventId: undefined,
    autoProperties: undefined,
    customProperties: undefined,
    distinctId: undefined,
    kind: undefined,
    occurTime: undefined,
    sessionId: undefined,
    cookieless: undefined,
  };
}

/**
 * Fills `fields` from `event` and returns the name of a field that was given in both spellings, if there is one.
 * One pass over the members skips unknown ones. Written out member by member: a store under a
 * computed name costs more than all other rules of an event's own fields together.
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
