// A line of an access log, whatever format it came in, and why a line is none. page-views.ts decides what becomes of
// it.

export interface LogLine {
  /** The host that was asked, and how, where the line tells. */
  hostname?: string;
  scheme?: string;
  /** The client's: an address in its one form, or the text of the field that the user named. */
  address: string;
  timeMs: number;
  method: string;
  /** As requested: a path with its query, or an absolute URL. */
  target: string;
  status: number;
  /** Size of the response's body, where the line tells. */
  bytes?: number;
  /** Absent where the line has "-", or its format has none. */
  referrer?: string;
  userAgent?: string;
}

/** Why a line is refused, with the nearest remedy. */
export const refusals = {
  format:
    'in no format that is known: common or combined (Apache, nginx, Traefik; with or without a host), JSON of Caddy, ' +
    'Traefik or CloudFront, W3C (IIS, CloudFront), ALB, HAProxy (HTTP)',
  json: "in JSON that is not Caddy's, Traefik's or CloudFront's: log in one of the known formats",
  columns:
    'under no #Fields line that names date, time, c-ip, cs-method, cs-uri-stem and sc-status: log these fields',
  client:
    'without an address in the field of the client: --client-field says which field it is (1 is the first, or last, or ' +
    "a field's name in JSON and W3C)",
  clients:
    'from one address and for another one in the last field, as a proxy writes them: --client-field last takes the ' +
    'last, --client-field 1 the first',
  request: 'broken off, or without a time and a request that can be read',
} as const;

export type Refusal = keyof typeof refusals;

/** `none`: a comment, which is no request. */
export type Parsed =
  | { kind: 'line'; line: LogLine }
  | { kind: 'none' }
  | { kind: 'bad'; why: Refusal };

export const bad = (why: Refusal): Parsed => ({ kind: 'bad', why });

/** The parts of a line as texts, still to be checked; '' and '-' are absent. */
export interface LineParts {
  hostname?: string | undefined;
  scheme?: string | undefined;
  address: string | undefined;
  timeMs: number | undefined;
  method: string | undefined;
  target: string | undefined;
  status: string | undefined;
  bytes?: string | undefined;
  referrer?: string | undefined;
  userAgent?: string | undefined;
}

/** A line of parts that are all there. */
export function lineOf(parts: LineParts): Parsed {
  const [method, target, status] = [parts.method, parts.target, parts.status].map(present);
  const isRequest = /^[A-Z]{1,32}$/.test(method ?? '') && /^\S{1,65536}$/.test(target ?? '');
  if (parts.timeMs === undefined || Number.isNaN(parts.timeMs) || !isRequest) return bad('request');
  if (!/^\d{3}$/.test(status ?? '')) return bad('request');
  const address = present(parts.address);
  if (address === undefined) return bad('client');
  const line: LogLine = {
    ...{ address, timeMs: parts.timeMs, method: method ?? '', target: target ?? '' },
    status: Number(status),
  };
  const hostname = present(parts.hostname);
  if (hostname !== undefined) line.hostname = hostname.toLowerCase();
  if (parts.scheme === 'http' || parts.scheme === 'https') line.scheme = parts.scheme;
  if (/^\d+$/.test(parts.bytes ?? '')) line.bytes = Number(parts.bytes);
  const referrer = present(parts.referrer);
  if (referrer !== undefined) line.referrer = referrer;
  const userAgent = present(parts.userAgent);
  if (userAgent !== undefined) line.userAgent = userAgent;
  return { kind: 'line', line };
}

/** Method and target of a request's first line. */
export function requestOf(text: string | undefined): { method?: string; target?: string } {
  const [, method, target] = /^([A-Z]+) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/.exec(text ?? '') ?? [];
  return method === undefined || target === undefined ? {} : { method, target };
}

export function present(text: string | undefined): string | undefined {
  return text === undefined || text === '' || text === '-' ? undefined : text;
}
