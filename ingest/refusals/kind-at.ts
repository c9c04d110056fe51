// The kind of the event that a refusal is about: the only value that is told, and only where it keeps the rules of a
// kind, so that it is a name and not what somebody put into a wrong field.

import { isObject } from '../../platform/json.ts';
import { maxKindCharacters } from '../../platform/limits.ts';

/** Half a millisecond of JSON.parse. */
const maxParsedBytes = 65_536;
const reservedPrefix = 'svc.';

/** Empty where it cannot be told. `index` is the event's place in the request's JSON. */
export function kindAt(json: Uint8Array, index: number): string {
  if (json.length > maxParsedBytes) return '';
  try {
    const request: unknown = JSON.parse(Buffer.from(json).toString());
    const events = isObject(request) ? request['events'] : undefined;
    const event: unknown = Array.isArray(events) ? events[index] : undefined;
    // The short shape calls it `name`.
    const kind = isObject(event) ? (event['kind'] ?? event['name']) : undefined;
    return isKind(kind) ? kind : '';
  } catch {
    return '';
  }
}

function isKind(kind: unknown): kind is string {
  return (
    typeof kind === 'string' &&
    kind.length <= maxKindCharacters &&
    /^[a-zA-Z0-9_.-]+$/.test(kind) &&
    !kind.startsWith(reservedPrefix)
  );
}
