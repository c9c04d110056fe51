// Authentication at the Connect router: no handler runs without a principal, in any protocol. The check itself is
// authenticate.ts.

import {
  Code,
  ConnectError,
  type ConnectRouter,
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type Interceptor,
} from '@connectrpc/connect';
import type { UniversalHandler, UniversalServerRequest } from '@connectrpc/connect/protocol';
import { accessTable } from './access-table.ts';
import type {
  AccessRefusal,
  Authenticate,
  Authentication,
  Credentials,
  CustomerSession,
  Principal,
} from './authenticate.ts';

const authenticationKey = createContextKey<Authentication | undefined>(undefined, {
  description: 'authentication',
});

/** The principal of a call. Throws `internal` where the interceptor below has not run, or found no principal. */
export function principalOf(context: Pick<HandlerContext, 'values'>): Principal {
  const authentication = context.values.get(authenticationKey);
  if (authentication?.kind === 'ok') return authentication.principal;
  throw new ConnectError('the request was not authenticated', Code.Internal);
}

/** The customer who calls. Throws `internal` like principalOf, and where a key has called. */
export function customerOf(context: Pick<HandlerContext, 'values'>): CustomerSession {
  const authentication = context.values.get(authenticationKey);
  if (authentication?.kind === 'customer') return authentication.customer;
  if (authentication?.kind === 'ok' && authentication.principal.customer !== undefined) {
    return authentication.principal.customer;
  }
  throw new ConnectError('the request was not authenticated', Code.Internal);
}

const againKey = createContextKey<(() => Promise<Authentication>) | undefined>(undefined, {
  description: 'authentication, asked again',
});

/**
 * For streams, which outlive their check: asks again whether the call's credential opens its method. Resolves with the
 * error that ends the stream, or undefined; costs what a new call's check costs.
 */
export function credentialEndOf(
  context: Pick<HandlerContext, 'values'>,
): () => Promise<ConnectError | undefined> {
  const again = context.values.get(againKey);
  if (again === undefined) {
    throw new ConnectError('the request was not authenticated', Code.Internal);
  }
  return async () => {
    const authentication = await again();
    if (authentication.kind !== 'refused') return undefined;
    // A membership that ended answers not_found, a lower role permission_denied: to an open stream, all are ends.
    return authentication.code === 'unavailable'
      ? refusalError(authentication)
      : new ConnectError('the credential opens this stream no more', Code.Unauthenticated);
  };
}

/** The id of the key or customer who calls; undefined where no credential was checked. */
export function callerIdOf(values: ContextValues): string | undefined {
  const authentication = values.get(authenticationKey);
  if (authentication?.kind === 'ok') return authentication.principal.keyId;
  return authentication?.kind === 'customer' ? authentication.customer.customerId : undefined;
}

/**
 * Throws the refusal of `authenticate`, or keeps the principal for `principalOf`. A customer is checked again although
 * checkedFirst has done so: a body may be held back until long after its headers, and the session end meanwhile.
 */
export function createAuthInterceptor(authenticate: Authenticate): Interceptor {
  return (next) => async (request) => {
    const { service, method, header, url, contextValues } = request;
    const before = contextValues.get(authenticationKey);
    const credentials = credentialsOf(header, url);
    const again = async () => authenticate(`${service.typeName}/${method.name}`, credentials);
    const authentication = before === undefined || isCustomers(before) ? await again() : before;
    if (authentication.kind === 'refused') throw refusalError(authentication);
    contextValues.set(authenticationKey, authentication);
    if (request.stream) contextValues.set(againKey, again);
    return next(request);
  };
}

function isCustomers(authentication: Authentication): boolean {
  return (
    authentication.kind === 'customer' ||
    (authentication.kind === 'ok' && authentication.principal.customer !== undefined)
  );
}

/**
 * Makes every handler of the router decide access before it reads a body. An interceptor alone runs after the body was
 * parsed, so a caller without a credential would be told of a broken body. Call it after all services are registered.
 * Throws where a registered method has no row in `accessTable`.
 */
export function checkAccessFirst(router: ConnectRouter, authenticate: Authenticate): void {
  for (const [index, handler] of router.handlers.entries()) {
    const method = `${handler.service.typeName}/${handler.method.name}`;
    if (!accessTable.has(method))
      throw new Error(`auth: ${method} has no row in the table of access`);
    router.handlers[index] = checkedFirst(handler, method, authenticate);
  }
}

function checkedFirst(
  handler: UniversalHandler,
  method: string,
  authenticate: Authenticate,
): UniversalHandler {
  const { protocolNames, supportedContentType, allowedMethods, requestPath, service } = handler;
  const checked = async (request: UniversalServerRequest) => {
    const contextValues = request.contextValues ?? createContextValues();
    const authentication = await authenticate(method, credentialsOf(request.header, request.url));
    contextValues.set(authenticationKey, authentication);
    if (authentication.kind !== 'refused') return handler({ ...request, contextValues });
    return handler({ ...withoutBody(request, refusalError(authentication)), contextValues });
  };
  const properties = { protocolNames, supportedContentType, allowedMethods, requestPath, service };
  return Object.assign(checked, { ...properties, method: handler.method });
}

// The handler turns a failed read of the body into an answer in the request's own protocol; nothing else of it is
// needed. It checks length, encoding and time-out before it reads, so these headers go: the refusal must come first.
function withoutBody(request: UniversalServerRequest, error: ConnectError): UniversalServerRequest {
  const header = new Headers(request.header);
  for (const name of headersReadFirst) header.delete(name);
  return { ...request, header, body: failing(error) };
}

const headersReadFirst = [
  'content-length',
  'content-encoding',
  'connect-content-encoding',
  'grpc-encoding',
  'connect-timeout-ms',
  'grpc-timeout',
];

// biome-ignore lint/correctness/useYield: stands for a body whose first read fails
async function* failing(error: ConnectError): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  throw error;
}

function credentialsOf(header: Headers, url: string): Credentials {
  const mark = url.indexOf('?');
  const query = mark < 0 ? undefined : new URLSearchParams(url.slice(mark));
  return {
    apiKey: header.get('x-api-key') ?? undefined,
    authorization: header.get('authorization') ?? undefined,
    projectIdHeader: header.get('x-project-id') ?? undefined,
    apiKeyParam: query?.get('api_key') ?? undefined,
  };
}

const codes = {
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  invalid_argument: Code.InvalidArgument,
  unavailable: Code.Unavailable,
} as const satisfies Record<AccessRefusal['code'], Code>;

/** The error that tells a caller of a refusal. */
export function refusalError({ code, message }: AccessRefusal): ConnectError {
  return new ConnectError(message, codes[code]);
}
