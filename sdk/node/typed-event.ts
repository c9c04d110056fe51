// An event of a program as the service takes it: each property names its type.

import { createHash, randomUUID } from 'node:crypto';

/** An event as BatchCreate takes it; each property names its type, as `typedValue` does. */
export interface TypedEvent {
  eventId: string;
  kind: string;
  distinctId: string;
  sessionId: string;
  /** RFC 3339. */
  occurTime: string;
  autoProperties: Record<string, object>;
  customProperties: Record<string, object>;
}

export interface TrackedEvent {
  kind: string;
  distinctId: string;
  /** The page's, where a page asked for this; otherwise a user has one visit a day. */
  sessionId?: string;
  /** Now, unless given. */
  occurTime?: Date;
  /** Random, unless given: an id of one's own makes repetitions by one's own program count once. */
  eventId?: string;
  /** Names that begin with $ are the service's own. */
  properties?: Record<string, unknown>;
}

/** The service refuses longer texts. */
const maxStringCodePoints = 1_024;

/** An event as BatchCreate takes it; what no type can hold is left out. */
export function typedEvent(event: TrackedEvent): TypedEvent {
  const occurTime = (event.occurTime ?? new Date()).toISOString();
  const autoProperties: Record<string, object> = {};
  const customProperties: Record<string, object> = {};
  for (const [name, one] of Object.entries(event.properties ?? {})) {
    const value = typedValue(one);
    if (value) (name.startsWith('$') ? autoProperties : customProperties)[name] = value;
  }
  const { kind, distinctId, eventId = randomUUID() } = event;
  const sessionId = event.sessionId ?? visitOf(distinctId, occurTime.slice(0, 10));
  return { eventId, kind, distinctId, sessionId, occurTime, autoProperties, customProperties };
}

/** Undefined for null, NaN, a function, an invalid date, an integer beyond 64 bits, an object that is no JSON. */
export function typedValue(value: unknown): object | undefined {
  if (typeof value === 'boolean') return { boolValue: value };
  const isInt =
    typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);
  if (isInt) return { intValue: String(value) };
  if (typeof value === 'number' && Number.isFinite(value)) return { doubleValue: value };
  if (typeof value === 'string') {
    const points = [...value.slice(0, 2 * maxStringCodePoints)].slice(0, maxStringCodePoints);
    return { stringValue: points.join('').replace(/\p{Cs}/gu, '\ufffd') };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    if (value instanceof Date) return { timestampValue: value.toISOString() };
    return typedValue(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

/** The same for a user's whole day, in whatever process: a UUID of version 8. */
function visitOf(distinctId: string, day: string): string {
  const hex = createHash('sha256').update(`${day}\0${distinctId}`).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
