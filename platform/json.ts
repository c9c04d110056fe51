// The shape of JSON values as JSON.parse makes them.

/** The members of an object, each of any type. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for objects only, not for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
