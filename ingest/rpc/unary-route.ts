// A hot method over HTTP, for the two encodings that SDKs speak: Connect unary with JSON and with binary protobuf. One
// request's way: auth -> headers -> body -> the method -> answer. Other protocols and content types are left to the
// Connect router, whose handlers end in the same functions as the methods here.

import type { ServerResponse } from 'node:http';
import type { Clock } from '../../platform/clock.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';
import type { HttpAnswer, PlainRequestRoute } from '../../platform/http/plain-requests.ts';
import type { Log } from '../../platform/log.ts';
import type { CallerRequest } from '../caller/caller.ts';
import { bodyTooLarge, invalidBody } from '../validation/text/readable-body.ts';
import type { Principal } from './accept.ts';
import {
  type Accepted,
  type Answer,
  busyRefusal,
  type Refusal,
  refusal,
  violationRefusal,
} from './answer.ts';
import { checkProtocol, type Format, formatOf, timeoutMsOf } from './connect-unary.ts';
import { allowAnyOrigin, answerPreflight, exposedHeaders } from './cors.ts';
import { BodyReceiver, type ReceivedBody } from './received-body.ts';

/** A request whose body is whole. */
export interface ReceivedCall {
  principal: Principal;
  callerRequest: CallerRequest;
  receiveTimeMs: number;
  /** How long the sender waits for an answer. */
  timeoutMs: number;
  format: Format;
  bytes: Buffer;
  idempotencyKey: string | undefined;
}

export interface UnaryMethod {
  authenticate(
    request: CallerRequest,
    apiKeyParameter: string | undefined,
  ): Principal | Refusal | Promise<Principal | Refusal>;
  answer(call: ReceivedCall): Answer | Promise<Answer>;
  count(answer: Answer): void;
  /** The response's message, as JSON text and as binary protobuf. */
  writeJson(accepted: Accepted): string;
  writeBinary(accepted: Accepted): Uint8Array;
}

export interface UnaryRouteOptions {
  /** Path to method. */
  methods: ReadonlyMap<string, UnaryMethod>;
  clock: Clock;
  /** The largest body after decompression. */
  maxBodyBytes: number;
  log: Log;
}

interface Call {
  method: UnaryMethod;
  format: Format;
  callerRequest: CallerRequest;
  apiKeyParameter: string | undefined;
}

/** The two ways on which requests arrive. They are answered alike. */
export interface UnaryRoute {
  nodeHttpRoute: NodeHttpRoute;
  plainRequestRoute: PlainRequestRoute;
}

// Bodies that are being received are held in memory; past this, senders are told to slow down.
const maxHeldBytes = 256 * 1_048_576;

/** The route for all of the methods. */
export function createUnaryRoute(options: UnaryRouteOptions): UnaryRoute {
  const { methods, maxBodyBytes } = options;
  const bodies = new BodyReceiver({ maxBodyBytes, maxHeldBytes });
  return {
    nodeHttpRoute(request, response, { path, query }) {
      const method = methods.get(path);
      if (method === undefined) return false;
      if (request.method === 'OPTIONS') {
        answerPreflight(response);
        return true;
      }
      const callerRequest = { headers: request.headers, peerAddress: request.socket.remoteAddress };
      const call = request.method === 'POST' ? callOf(method, callerRequest, query) : undefined;
      if (call === undefined) {
        allowAnyOrigin(response);
        return false;
      }
      void serve(call, () => bodies.receive(request), options).then((answer) =>
        write(response, answer, options.log),
      );
      return true;
    },
    plainRequestRoute({ path, query, headers, bodyBytes }, peerAddress) {
      const method = methods.get(path);
      if (method === undefined || bodyBytes > maxBodyBytes) return undefined;
      const call = callOf(method, { headers, peerAddress }, query);
      if (call === undefined) return undefined;
      return (bytes) => serve(call, () => ({ kind: 'received', bytes }), options);
    },
  };
}

/** Undefined where it is left to the Connect router. */
function callOf(
  method: UnaryMethod,
  callerRequest: CallerRequest,
  query: string,
): Call | undefined {
  const apiKeyParameter =
    query === '' ? undefined : (new URLSearchParams(query).get('api_key') ?? undefined);
  const contentType = callerRequest.headers['content-type'];
  const format = formatOf(contentType, apiKeyParameter !== undefined);
  return format && { method, format, callerRequest, apiKeyParameter };
}

type Receive = () => ReceivedBody | Promise<ReceivedBody>;

/** Undefined where the sender is gone. Never rejects. */
async function serve(
  call: Call,
  receive: Receive,
  options: UnaryRouteOptions,
): Promise<HttpAnswer | undefined> {
  try {
    const answer = await answerCall(call, receive, options);
    if (answer === undefined) return undefined;
    call.method.count(answer);
    return writtenAnswer(call, answer);
  } catch (error) {
    options.log.error({ err: error }, 'a hot method failed');
    const failure = refusal('internal', 'internal', 'internal error');
    call.method.count(failure);
    return writtenAnswer(call, failure);
  }
}

/** Undefined where the sender is gone. */
async function answerCall(
  { method, format, callerRequest, apiKeyParameter }: Call,
  receive: Receive,
  { clock, maxBodyBytes }: UnaryRouteOptions,
): Promise<Answer | undefined> {
  const { headers } = callerRequest;
  const receiveTimeMs = clock.nowMs();
  const authenticated = method.authenticate(callerRequest, apiKeyParameter);
  const principal = authenticated instanceof Promise ? await authenticated : authenticated;
  if ('kind' in principal) return principal;
  const timeoutMs = timeoutMsOf(headers);
  const protocolRefusal = checkProtocol(headers);
  if (protocolRefusal !== undefined) return protocolRefusal;

  const receiving = receive();
  const received = receiving instanceof Promise ? await receiving : receiving;
  if (received.kind === 'gone') return undefined;
  if (received.kind !== 'received') return receivingRefusal(received, maxBodyBytes);
  return method.answer({
    principal,
    callerRequest,
    receiveTimeMs,
    timeoutMs,
    format,
    bytes: received.bytes,
    idempotencyKey: idempotencyKeyOf(headers),
  });
}

function idempotencyKeyOf(headers: CallerRequest['headers']): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function receivingRefusal(
  received: Exclude<ReceivedBody, { kind: 'received' | 'gone' }>,
  maxBodyBytes: number,
): Refusal {
  switch (received.kind) {
    case 'too_large':
      return violationRefusal(bodyTooLarge(maxBodyBytes).violation);
    case 'busy':
      return busyRefusal();
    case 'undecodable':
      return violationRefusal(invalidBody('body_encoding').violation);
    case 'unknown_encoding':
      return refusal(
        'unimplemented',
        'unknown_encoding',
        'unknown content encoding: supported encodings are gzip, br',
      );
    default:
      return received satisfies never;
  }
}

/** Never compressed: an answer is shorter than what compressing one would save. */
function writtenAnswer({ method, format }: Call, answer: Answer): HttpAnswer {
  if (answer.kind === 'refused') return writtenRefusal(answer);
  const isJson = format === 'json';
  const body = isJson ? method.writeJson(answer) : method.writeBinary(answer);
  const headers = {
    'content-type': isJson ? 'application/json' : 'application/proto',
    'access-control-allow-origin': '*',
    'content-length': body.length,
  };
  return { status: 200, headers, body };
}

function writtenRefusal({ code, message, retryAfterSeconds }: Refusal): HttpAnswer {
  const body = Buffer.from(JSON.stringify({ code, message }));
  const headers = {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'content-length': body.length,
    ...(retryAfterSeconds !== undefined && { 'retry-after': retryAfterSeconds }),
    'access-control-expose-headers': exposedHeaders,
  };
  return { status: httpStatus[code], headers, body };
}

function write(response: ServerResponse, answer: HttpAnswer | undefined, log: Log): void {
  if (answer === undefined || response.destroyed) return;
  try {
    response.writeHead(answer.status, answer.headers);
    // With text, which is ASCII, head and body become one piece, which is written as it is.
    response.end(answer.body, 'latin1');
  } catch (error) {
    // Only a sender that went away in the meantime makes writing an answer fail.
    log.debug({ err: error }, 'an answer could not be written');
    response.destroy();
  }
}

/** Connect's HTTP status for each code. */
const httpStatus: Readonly<Record<Refusal['code'], number>> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  resource_exhausted: 429,
  internal: 500,
  unimplemented: 501,
  unavailable: 503,
};
