// An event in the JSON of a BatchCreate body, and makers of its values: for demo, import and benches.

export type Value =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean }
  | { timestampValue: string };

export type Properties = Record<string, Value>;

export interface Event {
  eventId: string;
  kind: string;
  distinctId: string;
  sessionId: string;
  /** RFC 3339. */
  occurTime: string;
  autoProperties: Properties;
  customProperties: Properties;
}

export const text = (value: string): Value => ({ stringValue: value });
/** An int64, which JSON carries as a string. */
export const int = (value: number | bigint): Value => ({ intValue: String(value) });
export const double = (value: number): Value => ({ doubleValue: value });
export const bool = (value: boolean): Value => ({ boolValue: value });
export const moment = (timeMs: number): Value => ({ timestampValue: rfc3339(timeMs) });

export function rfc3339(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A value as text for a person. */
export function valueText(value: Value): string {
  return String(Object.values(value)[0]);
}
