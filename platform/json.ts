// Narrows the values that JSON.parse returns. Reading particular records is left to their owners.

/** The members of an object, each of any type. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The member of this name; undefined where `value` is no object. */
export function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** True for objects only, not for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for lists of texts only, empty ones too. */
export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}
