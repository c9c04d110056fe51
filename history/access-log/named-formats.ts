// Lines whose fields have names: JSON of Caddy, Traefik and CloudFront, and W3C's extended format, in which IIS and
// CloudFront write, under a line that names the fields.

import { isObject } from '../../platform/json.ts';
import { addressIn, type ClientField } from './client-address.ts';
import { bad, lineOf, type Parsed, present } from './log-line.ts';
import { logTimeMs } from './log-time.ts';

type NamedText = (name: string) => string | undefined;

export function parseJson(text: string, client: ClientField | undefined): Parsed {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return bad(text.startsWith('{"') ? 'request' : 'format');
  }
  if (!isObject(json)) return bad('json');
  const record = json;
  const at: NamedText = (path) => textOf(record[path] ?? inner(record, path.split('>')));
  if (isObject(record['request'])) return parseCaddy(at, client);
  if ('RequestMethod' in record) return parseTraefik(at, client);
  return 'cs-uri-stem' in record ? parseNamed(at, client, percentDecoded) : bad('json');
}

/** What the named field has; the format's own client where that has nothing. */
function clientOf(
  at: NamedText,
  client: ClientField | undefined,
  own: string | undefined,
): string | undefined {
  const named = client === undefined ? undefined : present(at(String(client)));
  return named === undefined ? addressIn(own) : (addressIn(named) ?? named);
}

function parseCaddy(at: NamedText, client: ClientField | undefined): Parsed {
  const seconds = Number(at('ts'));
  return lineOf({
    hostname: at('request>host')?.replace(/:\d{1,5}$/, ''),
    address: clientOf(
      at,
      client,
      at('request>client_ip') ?? at('request>remote_ip') ?? at('request>remote_addr'),
    ),
    timeMs: Number.isFinite(seconds) ? Math.round(seconds * 1_000) : logTimeMs(at('ts')),
    ...{ method: at('request>method'), target: at('request>uri') },
    ...{ status: at('status'), bytes: at('size') },
    ...{ referrer: at('request>headers>Referer'), userAgent: at('request>headers>User-Agent') },
  });
}

function parseTraefik(at: NamedText, client: ClientField | undefined): Parsed {
  return lineOf({
    ...{ hostname: at('RequestHost'), scheme: at('RequestScheme') },
    address: clientOf(at, client, at('ClientHost') ?? at('ClientAddr')),
    timeMs: logTimeMs(at('StartUTC') ?? at('time')),
    ...{ method: at('RequestMethod'), target: at('RequestPath') },
    ...{ status: at('DownstreamStatus'), bytes: at('DownstreamContentSize') },
    ...{ referrer: at('request_Referer'), userAgent: at('request_User-Agent') },
  });
}

/** Reads lines under the names of the last `#Fields:` line. */
export class W3cLines {
  #names: readonly string[] = [];

  isUnderNames(): boolean {
    return this.#names.length > 0;
  }

  /** A line that begins with "#". */
  directive(text: string): void {
    if (text.startsWith('#Fields:')) this.#names = text.slice(8).trim().split(/\s+/);
  }

  parse(text: string, client: ClientField | undefined): Parsed {
    const hasTabs = text.includes('\t');
    const values = text.split(hasTabs ? '\t' : ' ');
    if (values.length !== this.#names.length) return bad('request');
    const at: NamedText = (name) => present(values[this.#names.indexOf(name)]);
    // CloudFront has tabs between its fields and percent signs in them; IIS has spaces, and "+" for a space in them.
    return parseNamed(at, client, hasTabs ? percentDecoded : plusDecoded);
  }
}

const needed = ['date', 'time', 'cs-method', 'cs-uri-stem', 'sc-status'] as const;

function parseNamed(
  at: NamedText,
  client: ClientField | undefined,
  decoded: (text: string) => string,
): Parsed {
  const read = (name: string): string | undefined => {
    const text = present(at(name));
    return text === undefined ? undefined : decoded(text);
  };
  if (needed.some((name) => at(name) === undefined)) return bad('columns');
  const query = present(at('cs-uri-query'));
  return lineOf({
    hostname: (at('x-host-header') ?? at('cs-host') ?? at('cs(Host)'))?.replace(/:\d{1,5}$/, ''),
    scheme: at('cs-protocol'),
    address: clientOf(at, client, at('c-ip')),
    timeMs: logTimeMs(`${at('date')}T${at('time')}Z`),
    method: at('cs-method'),
    target: `${at('cs-uri-stem')?.replaceAll(' ', '%20')}${query === undefined ? '' : `?${query}`}`,
    ...{ status: at('sc-status'), bytes: at('sc-bytes') },
    ...{ referrer: read('cs(Referer)'), userAgent: read('cs(User-Agent)') },
  });
}

/** CloudFront encodes what a header has, and did so twice in older logs: an agent without a space was encoded again. */
function percentDecoded(text: string): string {
  try {
    const once = decodeURIComponent(text);
    return once.includes(' ') || !once.includes('%20') ? once : decodeURIComponent(once);
  } catch {
    return text;
  }
}

function plusDecoded(text: string): string {
  return text.replaceAll('+', ' ');
}

function inner(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  return isObject(value) ? inner(value[name], rest) : undefined;
}

/** Of a header in a list, its first value. */
function textOf(value: unknown): string | undefined {
  const one: unknown = Array.isArray(value) ? value[0] : value;
  return typeof one === 'string' || typeof one === 'number' ? String(one) : undefined;
}
