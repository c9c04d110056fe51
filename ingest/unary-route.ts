// A hot method over HTTP, for the two encodings that SDKs speak: Connect unary with JSON and with binary protobuf. One
// request's way: auth -> headers -> body -> the method -> answer. Other protocols and content types are left to the
// Connect router, whose handlers end in the same functions as the methods here.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../platform/clock.ts';
import type { HotRoute } from '../platform/http.ts';
import type { Log } from '../platform/log.ts';
import type { Principal } from './accept.ts';
import {
  type Accepted,
  type Answer,
  busyRefusal,
  type Refusal,
  refusal,
  violationRefusal,
} from './answer.ts';
import type { CallerRequest } from './caller.ts';
import { checkProtocol, type Format, formatOf, timeoutMsOf } from './connect-unary.ts';
import { allowAnyOrigin, answerPreflight, exposedHeaders } from './cors.ts';
import { BodyReceiver, type ReceivedBody } from './received-body.ts';
import { bodyTooLarge, invalidBody } from './request-body.ts';

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
  request: IncomingMessage;
  response: ServerResponse;
  method: UnaryMethod;
  format: Format;
  apiKeyParameter: string | undefined;
  bodies: BodyReceiver;
}

// Bodies that are being received are held in memory; past this, senders are told to slow down.
const maxHeldBytes = 256 * 1_048_576;

/** The route for all of the methods. */
export function createUnaryRoute(options: UnaryRouteOptions): HotRoute {
  const { maxBodyBytes } = options;
  const bodies = new BodyReceiver({ maxBodyBytes, maxHeldBytes });
  return (request, response, { path, query }) => {
    const method = options.methods.get(path);
    if (method === undefined) return false;
    if (request.method === 'OPTIONS') {
      answerPreflight(response);
      return true;
    }
    const apiKeyParameter =
      query === '' ? undefined : (new URLSearchParams(query).get('api_key') ?? undefined);
    const format = formatOf(request.headers['content-type'], apiKeyParameter !== undefined);
    if (request.method !== 'POST' || format === undefined) {
      allowAnyOrigin(response);
      return false;
    }
    void serve({ request, response, method, format, apiKeyParameter, bodies }, options);
    return true;
  };
}

async function serve(call: Call, options: UnaryRouteOptions): Promise<void> {
  const { log } = options;
  let answer: Answer | undefined;
  try {
    answer = await answerCall(call, options);
  } catch (error) {
    log.error({ err: error }, 'a hot method failed');
    answer = refusal('internal', 'internal', 'internal error');
  }
  if (answer === undefined) return;
  try {
    call.method.count(answer);
    writeAnswer(call, answer);
  } catch (error) {
    // Only a sender that went away in the meantime makes writing an answer fail.
    log.debug({ err: error }, 'an answer could not be written');
    call.response.destroy();
  }
}

/** Undefined where the sender is gone. */
async function answerCall(
  call: Call,
  { clock, maxBodyBytes }: UnaryRouteOptions,
): Promise<Answer | undefined> {
  const { request, method, format } = call;
  const { headers } = request;
  const receiveTimeMs = clock.nowMs();
  const callerRequest = { headers, peerAddress: request.socket.remoteAddress };

  const authenticated = method.authenticate(callerRequest, call.apiKeyParameter);
  const principal = authenticated instanceof Promise ? await authenticated : authenticated;
  if ('kind' in principal) return principal;
  const timeoutMs = timeoutMsOf(headers);
  const protocolRefusal = checkProtocol(headers);
  if (protocolRefusal !== undefined) return protocolRefusal;

  const received = await call.bodies.receive(request);
  if (received.kind === 'gone') return undefined;
  if (received.kind !== 'received') return receivingRefusal(received, maxBodyBytes);
  return await method.answer({
    principal,
    callerRequest,
    receiveTimeMs,
    timeoutMs,
    format,
    bytes: received.bytes,
    idempotencyKey: idempotencyKeyOf(request),
  });
}

function idempotencyKeyOf({ headers }: IncomingMessage): string | undefined {
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
function writeAnswer({ response, method, format }: Call, answer: Answer): void {
  if (response.destroyed) return;
  if (answer.kind === 'refused') {
    writeRefusal(response, answer);
    return;
  }
  const isJson = format === 'json';
  const body = isJson ? method.writeJson(answer) : method.writeBinary(answer);
  response.writeHead(200, {
    'content-type': isJson ? 'application/json' : 'application/proto',
    'access-control-allow-origin': '*',
    'content-length': body.length,
  });
  // All of the text is ASCII: head and body become one piece, which is written as it is.
  response.end(body, 'latin1');
}

function writeRefusal(response: ServerResponse, answer: Refusal): void {
  const { code, message, retryAfterSeconds } = answer;
  const body = JSON.stringify({ code, message });
  response.writeHead(httpStatus[code], {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
    'content-length': Buffer.byteLength(body),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    'access-control-expose-headers': exposedHeaders,
  });
  response.end(body);
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
