// Narrows the values that JSON.parse returns. Reading particular records is left to their owners.

/** The members of an object, each of any type. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** True for objects only, not for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
