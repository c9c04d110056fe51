// An event as a test sends it: its typed properties, its form on the wire, and the canonical text of each value.

export type SentValue =
  | { type: 'string'; value: string }
  | { type: 'int'; value: bigint }
  | { type: 'double'; value: number }
  | { type: 'bool'; value: boolean }
  /** Milliseconds since the epoch. */
  | { type: 'time'; value: number };

export interface SentEvent {
  eventId: string;
  kind: string;
  /** Undefined for a cookieless event. */
  distinctId: string | undefined;
  /** The user agent that tells cookieless visitors apart; other events have none. */
  visitor: string | undefined;
  /** What groups the visit; for a cookieless event, the visit that the server is to find. */
  session: string;
  occurMs: number;
  properties: ReadonlyMap<string, SentValue>;
}

/** The value's protobuf JSON without quotes. */
export function canonicalText({ type, value }: SentValue): string {
  return type === 'time' ? timeText(value) : String(value);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** The event in the JSON of BatchCreate. */
export function wireEvent(event: SentEvent): Record<string, unknown> {
  const { eventId, kind, distinctId, session, occurMs, properties } = event;
  const auto = [...properties].filter(([key]) => key.startsWith('$'));
  const custom = [...properties].filter(([key]) => !key.startsWith('$'));
  return {
    eventId,
    kind,
    occurTime: new Date(occurMs).toISOString(),
    ...(distinctId === undefined ? { cookieless: true } : { distinctId, sessionId: session }),
    autoProperties: wireProperties(auto),
    customProperties: wireProperties(custom),
  };
}

// Object.fromEntries defines __proto__ like any other key.
function wireProperties(properties: [string, SentValue][]): Record<string, unknown> {
  return Object.fromEntries(properties.map(([key, value]) => [key, wireValue(value)]));
}

function wireValue(sent: SentValue): Record<string, unknown> {
  switch (sent.type) {
    case 'string':
      return { stringValue: sent.value };
    case 'int':
      return { intValue: String(sent.value) };
    case 'double':
      return { doubleValue: sent.value };
    case 'bool':
      return { boolValue: sent.value };
    case 'time':
      return { timestampValue: new Date(sent.value).toISOString() };
    default: {
      const unknown: never = sent;
      throw new Error(`no such value: ${String(unknown)}`);
    }
  }
}
