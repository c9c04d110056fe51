// Reads the fields of a core message: JSON that any version of a producer may have written.

export type MessageFields = Readonly<Record<string, unknown>>;

/** Undefined where the bytes are no JSON object. */
export function readFields(content: Uint8Array): MessageFields | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(content).toString());
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isFields(value: unknown): value is MessageFields {
  return typeof value === 'object' && value !== null;
}

/** The beginning of a text; empty where the value is none. */
export function textOf(value: unknown, maxCharacters: number): string {
  return typeof value === 'string' ? value.slice(0, maxCharacters) : '';
}
