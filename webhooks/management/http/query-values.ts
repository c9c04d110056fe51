// Reads the parameters of a URL's query as the values that a method's schema describes.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import type { ObjectSchema } from '../schema/schema.ts';

/** Unknown parameters are values too: the check refuses them by name. Throws invalid_argument where one comes twice. */
export function queryValues(query: string, schema: ObjectSchema | undefined): object {
  const values = new Map<string, unknown>();
  for (const [name, text] of new URLSearchParams(query)) {
    if (values.has(name)) throw invalidArgument(name.slice(0, 100), 'is given twice');
    const isInteger = schema?.properties[name]?.type === 'integer';
    values.set(name, isInteger && /^\d{1,15}$/.test(text) ? Number(text) : text);
  }
  return Object.fromEntries(values);
}
