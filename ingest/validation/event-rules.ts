// Checks a BatchCreateRequest in protobuf JSON against every rule, in a fixed order. Takes the value that JSON.parse
// returns; request-text.ts finds the faults that only the text shows (a member given twice, digits that a number lost).
// Runs for each event and allocates nothing while an event is valid.

import { dayMs } from '../../platform/clock.ts';
import { isObject } from '../../platform/json.ts';
import {
  hasMoreCodePoints,
  maxDistinctIdCodePoints,
  maxEventsPerRequest,
  maxKindCharacters,
  maxOccurTimeAheadMs,
  maxPropertiesPerMap,
  maxPropertyKeyCodePoints,
  minOccurTimeMs,
  sessionInactivityMs,
} from '../../platform/limits.ts';
import type { Rule } from '../../proto/wire/rules.ts';
import { propertyPath } from '../../proto/wire/violation-path.ts';
import { EventFields, readEventFields, type Tally } from './event-fields.ts';
import { checkProperty } from './property.ts';
import { parseTimestamp } from './text/checked-timestamp.ts';
import { isUuid } from './text/uuid.ts';
import { tooOldDetail, type Violation } from './violation.ts';
import { checkWellKnown } from './well-known-rules.ts';

export interface RequestOptions {
  /** How long before receipt an event may have occurred that is not cookieless; Infinity without a bound. */
  maxAgeMs: number;
  /** An event that names its user may leave the session id out. */
  sessionOptional?: boolean;
  /** Added to each occurTime: the sender's clock is off. */
  timeShiftMs?: number;
}

/**
 * The first violation of `request`, or undefined. occurTime, shifted, is compared with `receiveTimeMs`. Adds its counts
 * to `tally`; they are complete only where no rule is broken.
 */
export function checkRequest(
  request: unknown,
  receiveTimeMs: number,
  tally: Tally,
  { maxAgeMs, sessionOptional = false, timeShiftMs = 0 }: RequestOptions,
): Violation | undefined {
  if (!isObject(request)) return ofRequest('body', 'body_object');
  const { events } = request;
  if (events === undefined && Object.keys(request).length > 0) {
    return ofRequest('events', 'events_missing');
  }
  if (events === undefined || events === null) return undefined;
  if (!Array.isArray(events)) return ofRequest('events', 'events_array');
  if (events.length > maxEventsPerRequest) {
    return { ...ofRequest('events', 'events_count'), detail: `got ${events.length}` };
  }
  const bounds = {
    earliestMs: receiveTimeMs - maxAgeMs,
    latestMs: receiveTimeMs + maxOccurTimeAheadMs,
    todayMs: Math.floor(receiveTimeMs / dayMs) * dayMs,
    shiftMs: timeShiftMs,
    sessionOptional,
  };
  const fields = new EventFields();
  for (let index = 0; index < events.length; index++) {
    const event: unknown = events[index];
    const fault = checkEvent(event, bounds, fields, tally);
    if (fault === undefined) continue;
    const violation = { index, ...fault, ...kindOf(isObject(event) ? event['kind'] : undefined) };
    if (fault.rule !== 'occur_time_too_old') return violation;
    return { ...violation, detail: tooOldDetail(maxAgeMs) };
  }
  tally.events = events.length;
  return undefined;
}

function ofRequest(field: string, rule: Rule): Violation {
  return { index: -1, field, rule };
}

/** The member `eventKind` of a violation; none where `kind` breaks a rule of kinds, as somebody's address does. */
export function kindOf(kind: unknown): Pick<Violation, 'eventKind'> {
  return typeof kind === 'string' && kindRule(kind) === undefined ? { eventKind: kind } : {};
}

interface Fault {
  field: string;
  rule: Rule;
}

interface Bounds {
  /** Of events that are not cookieless: those are dropped, not refused, where they are old. */
  earliestMs: number;
  latestMs: number;
  /** When the UTC day of receipt began. */
  todayMs: number;
  shiftMs: number;
  sessionOptional: boolean;
}

function checkEvent(
  event: unknown,
  bounds: Bounds,
  fields: EventFields,
  tally: Tally,
): Fault | undefined {
  if (!isObject(event)) return { field: '', rule: 'event_object' };
  const twice = readEventFields(event, fields);
  if (twice !== undefined) return { field: twice, rule: 'member_spelling' };
  return (
    checkEventId(fields.eventId) ??
    checkKind(fields.kind) ??
    checkOccurTime(fields, bounds) ??
    checkCookieless(fields.cookieless) ??
    (fields.cookieless === true
      ? checkNoIdentity(fields, bounds, tally)
      : (checkDistinctId(fields.distinctId) ??
        checkSessionId(fields.sessionId, bounds.sessionOptional))) ??
    checkAutoProperties(fields.autoProperties) ??
    checkCustomProperties(fields.customProperties) ??
    checkByKind(fields)
  );
}

function checkEventId(eventId: unknown): Fault | undefined {
  if (isAbsent(eventId)) return { field: 'eventId', rule: 'required' };
  return checkUuid('eventId', eventId);
}

function checkKind(kind: unknown): Fault | undefined {
  const rule = kindRule(kind);
  return rule === undefined ? undefined : { field: 'kind', rule };
}

function kindRule(kind: unknown): Rule | undefined {
  if (isAbsent(kind)) return 'required';
  if (typeof kind !== 'string') return 'must_be_string';
  if (kind.length > maxKindCharacters) return 'kind_length';
  for (let at = 0; at < kind.length; at++) {
    const character = kind.charCodeAt(at);
    if (character > 127 || kindCharacters[character] === 0) return 'kind_pattern';
  }
  return kind.startsWith('svc.') ? 'kind_prefix' : undefined;
}

const kindCharacters = new Uint8Array(128);
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-') {
  kindCharacters[character.charCodeAt(0)] = 1;
}

function checkOccurTime(fields: EventFields, bounds: Bounds): Fault | undefined {
  const rule = occurTimeRule(fields, bounds);
  return rule === undefined ? undefined : { field: 'occurTime', rule };
}

function occurTimeRule(
  { occurTime, cookieless }: EventFields,
  { earliestMs, latestMs, shiftMs }: Bounds,
): Rule | undefined {
  if (occurTime === undefined || occurTime === null) return 'required';
  if (typeof occurTime !== 'string') return 'timestamp';
  const ms = parseTimestamp(occurTime) + shiftMs;
  if (Number.isNaN(ms)) return 'timestamp';
  if (ms < minOccurTimeMs) return 'time_early';
  if (ms < earliestMs && cookieless !== true) return 'occur_time_too_old';
  return ms > latestMs ? 'time_ahead' : undefined;
}

function checkCookieless(cookieless: unknown): Fault | undefined {
  if (cookieless === undefined || cookieless === null || typeof cookieless === 'boolean') {
    return undefined;
  }
  return { field: 'cookieless', rule: 'must_be_boolean' };
}

/** A cookieless event names neither user nor visit; an empty sessionId is a set one, and no UUID. */
function checkNoIdentity(
  fields: EventFields,
  { shiftMs, todayMs }: Bounds,
  tally: Tally,
): Fault | undefined {
  const { distinctId, sessionId, occurTime } = fields;
  if (!isAbsent(distinctId)) return { field: 'distinctId', rule: 'cookieless_identity' };
  if (sessionId === '') return { field: 'sessionId', rule: 'uuid' };
  if (!isAbsent(sessionId)) return { field: 'sessionId', rule: 'cookieless_identity' };
  countCookieless(parseTimestamp(String(occurTime)) + shiftMs, todayMs, tally);
  return undefined;
}

function countCookieless(occurTimeMs: number, todayMs: number, tally: Tally): void {
  tally.cookieless++;
  if (occurTimeMs < todayMs - dayMs || occurTimeMs >= todayMs + dayMs) return;
  if (occurTimeMs >= todayMs) tally.cookielessToday++;
  else tally.cookielessYesterday++;
  if (Math.abs(occurTimeMs - todayMs) <= sessionInactivityMs) tally.cookielessAtMidnight = true;
}

function checkDistinctId(distinctId: unknown): Fault | undefined {
  const rule = distinctIdRule(distinctId);
  return rule === undefined ? undefined : { field: 'distinctId', rule };
}

function distinctIdRule(distinctId: unknown): Rule | undefined {
  if (isAbsent(distinctId)) return 'identity_required';
  if (typeof distinctId !== 'string') return 'must_be_string';
  if (distinctId.startsWith('cookieless-')) return 'distinct_id_prefix';
  return !hasMoreCodePoints(distinctId, maxDistinctIdCodePoints) ? undefined : 'distinct_id_length';
}

function checkSessionId(sessionId: unknown, isOptional: boolean): Fault | undefined {
  if (sessionId === undefined || sessionId === null) {
    if (isOptional) return undefined;
    return { field: 'sessionId', rule: 'identity_required' };
  }
  return checkUuid('sessionId', sessionId);
}

function checkUuid(field: string, value: unknown): Fault | undefined {
  if (typeof value !== 'string') return { field, rule: 'must_be_string' };
  return isUuid(value) ? undefined : { field, rule: 'uuid' };
}

function checkAutoProperties(properties: unknown): Fault | undefined {
  if (properties === undefined || properties === null) return undefined;
  if (!isObject(properties)) return { field: 'autoProperties', rule: 'properties_object' };
  let count = 0;
  for (const key in properties) {
    if (!key.startsWith('$')) return keyFault('autoProperties', key, 'auto_key_prefix');
    const fault = checkEntry('autoProperties', key, properties[key], ++count);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function checkCustomProperties(properties: unknown): Fault | undefined {
  if (properties === undefined || properties === null) return undefined;
  if (!isObject(properties)) return { field: 'customProperties', rule: 'properties_object' };
  let count = 0;
  for (const key in properties) {
    if (key.startsWith('$')) return keyFault('customProperties', key, 'custom_key_prefix');
    const fault = checkEntry('customProperties', key, properties[key], ++count);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Checks the `count`th entry of either map. */
function checkEntry(map: string, key: string, value: unknown, count: number): Fault | undefined {
  if (count > maxPropertiesPerMap) return { field: map, rule: 'properties_count' };
  if (key === '' || hasMoreCodePoints(key, maxPropertyKeyCodePoints)) {
    return keyFault(map, key, 'property_key_length');
  }
  const fault = checkProperty(value);
  if (fault === undefined) return undefined;
  const variant = fault.variant === '' ? '' : `.${fault.variant}`;
  return { field: `${propertyPath(map, key)}${variant}`, rule: fault.rule };
}

function keyFault(map: string, key: string, rule: Rule): Fault {
  return { field: propertyPath(map, key), rule };
}

/** Checks the properties that a well-known kind needs. */
function checkByKind({ kind, customProperties }: EventFields): Fault | undefined {
  if (typeof kind !== 'string') return undefined;
  const fault = checkWellKnown(kind, isObject(customProperties) ? customProperties : undefined);
  if (fault === undefined) return undefined;
  return keyFault('customProperties', fault.key, fault.rule);
}

/** Protobuf cannot tell an empty string from an absent one in a field without presence. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
