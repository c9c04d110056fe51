// Lets the scripts of any web page send events. Browsers send beacons with credentials, so the page's origin is named
// and credentials are allowed; access still depends on the key alone, because no method here looks at a cookie.

import { cors } from '@connectrpc/connect';
import { accessTable, serviceAliases } from '../../platform/access/access-table.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';

/** Two hours; browsers lower it to their own maximum. */
const preflightSeconds = 7_200;

const allowedHeaders = [
  ...cors.allowedHeaders,
  'x-api-key',
  'x-project-id',
  'authorization',
  'idempotency-key',
].join(', ');

const exposedHeaders = [...cors.exposedHeaders, 'retry-after'].join(', ');

const preflightHeaders = {
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': allowedHeaders,
  'access-control-max-age': String(preflightSeconds),
};

const none = {};

/** An origin is short ASCII; `null` is the origin of a page in a sandbox. */
const plainOrigin = /^[\x21-\x7e]{1,512}$/;

/** All packages of SDKs: a mistyped service there is theirs too. */
const sdkStart = /^\/(?:sdk|events)\./;

/** The services that a public key opens, under all their names. */
const sdkServices = new Set<string>();
for (const [method, { credentials }] of accessTable) {
  if (credentials.includes('public-key')) sdkServices.add(method.slice(0, method.indexOf('/')));
}
for (const [alias, service] of serviceAliases) {
  if (sdkServices.has(service)) sdkServices.add(alias);
}

/** Headers that let the page of `origin` read the answer; none for a caller that is no page. */
export function pageHeaders(origin: string | undefined): Readonly<Record<string, string>> {
  if (origin === undefined || !plainOrigin.test(origin)) return none;
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposedHeaders,
    vary: 'origin',
  };
}

/** Whether pages of other origins may call this path, be there a method or not: its refusal too is for them to read. */
function isOpenToPages(path: string, collectPath: string): boolean {
  if (sdkStart.test(path) || path.startsWith(`${collectPath}/`)) return true;
  const slash = path.indexOf('/', 1);
  return sdkServices.has(slash < 0 ? path.slice(1) : path.slice(1, slash));
}

/**
 * Answers preflights, and sets the headers of the answers that the Connect router writes. Tried behind all methods.
 * The short paths themselves come as their methods' own; `collectPath` opens what a page asks for below it by mistake.
 */
export function createPageRoute(collectPath: string, onPreflight: () => void): NodeHttpRoute {
  return (request, response, { path }) => {
    if (!isOpenToPages(path, collectPath)) return false;
    const headers = pageHeaders(request.headers.origin);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (request.method !== 'OPTIONS') return false;
    if (request.headers['access-control-request-method'] !== undefined) onPreflight();
    response.writeHead(204, preflightHeaders);
    response.end();
    return true;
  };
}
