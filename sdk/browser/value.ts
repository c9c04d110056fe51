// What a page may send of a value and of an address. Knows neither the page's visitor nor how events are sent.

import { clickIds } from '../../proto/wire/click-ids.ts';

export type Properties = Record<string, unknown>;

/** The service refuses longer texts. */
const maxCodePoints = 1_024;

/** A PropertyValue; undefined for what none can hold: null, NaN, a function, an invalid date, a circle of objects. */
function typed(value: unknown): object | undefined {
  try {
    if (typeof value === 'boolean') return { boolValue: value };
    if (Number.isSafeInteger(value)) return { intValue: `${value}` };
    if (Number.isFinite(value)) return { doubleValue: value };
    if (value instanceof Date) return { timestampValue: value.toISOString() };
    return { stringValue: cut(value instanceof Object ? JSON.stringify(value) : value) };
  } catch {
    return undefined;
  }
}

/** Names that begin with $ are the service's own. */
export function typedProperties(properties: Properties) {
  const autoProperties: Properties = {};
  const customProperties: Properties = {};
  for (const [name, one] of Object.entries(properties)) {
    const value = typed(one);
    const side = name[0] === '$' ? autoProperties : customProperties;
    if (value) side[name] = value;
  }
  return { autoProperties, customProperties };
}

/** As long as the service takes it, with no half of a surrogate pair, which it refuses. Throws for what is no text. */
function cut(text: unknown): string {
  return [...(text as string)]
    .slice(0, maxCodePoints)
    .join('')
    .replace(/\p{Cs}/gu, '?');
}

/**
 * Without user and password, and with those parameters of the query alone whose names `kept` matches. A click id names
 * a person: where nobody may be known it is 1.
 */
export function cleanUrl(url: URL, kept: RegExp, isKnown: boolean): string {
  url.username = url.password = '';
  for (const [name, value] of [...url.searchParams]) {
    if (!kept.test(name)) url.searchParams.delete(name);
    else if (value && !isKnown && clickId.test(name)) url.searchParams.set(name, '1');
  }
  return cut(url.href);
}

/** Matches each entry of a list with commas between them; `*` is any text. */
export function pattern(list: string): RegExp {
  return RegExp(`^(${list.replace(/\*/g, '.*').replace(/,/g, '|')})$`);
}

const clickId = pattern(`${clickIds}`);

/** A random UUID. crypto.randomUUID is missing on pages without TLS; making one of random bytes takes 70 bytes more. */
export function uuid(): string {
  const url = URL.createObjectURL(new Blob());
  URL.revokeObjectURL(url);
  return url.slice(-36);
}
