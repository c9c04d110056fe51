// Connect's unary calls over HTTP, in the two encodings that SDKs speak: JSON and binary protobuf. One call's steps:
// access -> headers -> body -> the method -> answer. Other protocols and content types are left to the Connect router,
// whose handlers end in the same functions as the methods here.

import type { Authenticate } from '../../platform/access/authenticate.ts';
import type { Clock } from '../../platform/clock.ts';
import { withoutByteOrderMark } from '../../platform/http/bodies/byte-order-mark.ts';
import type { ReceivedBody } from '../../platform/http/bodies/received-body.ts';
import { type CallerRequest, peerAddressOf } from '../../platform/http/caller-request.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';
import type { HttpAnswer, PlainRequestRoute } from '../../platform/http/plain/plain-request.ts';
import type { Log } from '../../platform/log.ts';
import { timeShiftOf } from '../caller/sent-time.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { SenderRules } from '../senders/sender-rules.ts';
import { bodyTooLarge, invalidBody } from '../validation/text/reference-body.ts';
import {
  type Accepted,
  type Answer,
  busyRefusal,
  type Refusal,
  refusal,
  timeoutRefusal,
  violationRefusal,
} from './answer.ts';
import { authenticateCall, type Principal } from './authenticate.ts';
import { checkProtocol, type Format, formatOf, timeoutMsOf } from './connect-unary.ts';
import { httpAnswer, writeAnswer } from './http-answer.ts';

/** An authenticated call whose body is whole. */
interface ReceivedCall {
  principal: Principal;
  callerRequest: CallerRequest;
  receiveTimeMs: number;
  /** By how much its times are to be moved. */
  timeShiftMs: number;
  /** How long the sender waits for an answer. */
  timeoutMs: number;
  format: Format;
  bytes: Buffer;
  idempotencyKey: string | undefined;
}

export interface UnaryMethod {
  /** The method's name in the table of access. */
  accessMethod: string;
  answer(call: ReceivedCall): Answer | Promise<Answer>;
  count(answer: Answer): void;
  /** The response's message, as JSON text and as binary protobuf. */
  writeJson(accepted: Accepted): string;
  writeBinary(accepted: Accepted): Uint8Array;
}

interface UnaryRouteOptions {
  /** Path to method. */
  methods: ReadonlyMap<string, UnaryMethod>;
  authenticate: Authenticate;
  clock: Clock;
  /** The largest body after decompression. */
  maxBodyBytes: number;
  refusals: Pick<Refusals, 'tell'>;
  senders: Pick<SenderRules, 'refusalOf'>;
  log: Log;
}

interface Call {
  method: UnaryMethod;
  format: Format;
  callerRequest: CallerRequest;
  apiKeyParameter: string | undefined;
  sentParameter: string | null;
}

/** The same methods for requests that node:http reads and for plain requests, with equal answers. */
export interface UnaryRoute {
  nodeHttpRoute: NodeHttpRoute;
  plainRequestRoute: PlainRequestRoute;
}

export function createUnaryRoute(options: UnaryRouteOptions): UnaryRoute {
  const { methods, authenticate, maxBodyBytes } = options;
  return {
    nodeHttpRoute(request, response, { path, query }, bodies) {
      const method = methods.get(path);
      if (method === undefined || request.method !== 'POST') return false;
      const peerAddress = peerAddressOf(request.socket);
      const callerRequest = { headers: request.headers, peerAddress };
      const call = callOf(method, callerRequest, query);
      if (call === undefined) return false;
      void bodies.memory.during(async (lease) => {
        const answer = await serve(call, options, (principal) => {
          lease.claim(principal.keyId);
          const encoding = request.headers['content-encoding'] ?? 'identity';
          return bodies.receive(request, { lease, maxBytes: maxBodyBytes, encoding });
        });
        bodies.answerUnread(request);
        writeAnswer(response, answer, options.log);
      });
      return true;
    },
    plainRequestRoute({ path, query, headers, bodyBytes }, peerAddress) {
      const method = methods.get(path);
      if (method === undefined || bodyBytes > maxBodyBytes) return undefined;
      const call = callOf(method, { headers, peerAddress }, query);
      if (call === undefined) return undefined;
      const access = accessOf(call, authenticate);
      // Without certain access it is node:http's request, which is answered before its body is read.
      if (access instanceof Promise) {
        access.catch(() => {});
        return undefined;
      }
      if ('kind' in access) return undefined;
      return {
        holder: access.keyId,
        answer(bytes, cameLater) {
          const received = { kind: 'received', bytes } as const;
          return serve(call, options, () => received, cameLater ? undefined : access);
        },
      };
    },
  };
}

/** Undefined where the request is left to the Connect router. */
function callOf(
  method: UnaryMethod,
  callerRequest: CallerRequest,
  query: string,
): Call | undefined {
  const parameters = query === '' ? undefined : new URLSearchParams(query);
  const apiKeyParameter = parameters?.get('api_key') ?? undefined;
  const sentParameter = parameters?.get('sent') ?? null;
  const contentType = callerRequest.headers['content-type'];
  const format = formatOf(contentType, apiKeyParameter !== undefined);
  return format && { method, format, callerRequest, apiKeyParameter, sentParameter };
}

type Access = Principal | Refusal;

function accessOf(call: Call, authenticate: Authenticate): Access | Promise<Access> {
  const { method, callerRequest, apiKeyParameter } = call;
  return authenticateCall(authenticate, method.accessMethod, callerRequest, apiKeyParameter);
}

type Received = ReceivedBody | { kind: 'received'; bytes: Buffer };
type Receive = (principal: Principal) => Received | Promise<Received>;

/** Undefined where the sender is gone. Never rejects. `known`: the principal, where access was checked before. */
async function serve(
  call: Call,
  options: UnaryRouteOptions,
  receive: Receive,
  known?: Principal,
): Promise<HttpAnswer | undefined> {
  const { method, format } = call;
  const { origin } = call.callerRequest.headers;
  try {
    const answer = await answerCall(call, options, receive, known);
    if (answer === undefined) return undefined;
    method.count(answer);
    return httpAnswer(answer, method, format, origin);
  } catch (error) {
    options.log.error({ err: error }, 'a method of ingest failed');
    const failure = refusal('internal', 'internal', 'internal error');
    method.count(failure);
    return httpAnswer(failure, method, format, origin);
  }
}

/** Undefined where the sender is gone. */
async function answerCall(
  call: Call,
  { authenticate, clock, maxBodyBytes, refusals, senders }: UnaryRouteOptions,
  receive: Receive,
  known: Principal | undefined,
): Promise<Answer | undefined> {
  const { method, format, callerRequest } = call;
  const { headers } = callerRequest;
  const receiveTimeMs = clock.nowMs();
  const access = known ?? accessOf(call, authenticate);
  const principal = access instanceof Promise ? await access : access;
  if ('kind' in principal) return principal;
  const { projectId } = principal;
  const told = (refusal: Refusal): Refusal => {
    refusals.tell({ projectId, method: method.accessMethod, refusal, headers });
    return refusal;
  };
  const originRefusal = senders.refusalOf(principal, headers.origin);
  if (originRefusal !== undefined) return told(originRefusal);
  const timeoutMs = timeoutMsOf(headers);
  const protocolRefusal = checkProtocol(headers);
  if (protocolRefusal !== undefined) return protocolRefusal;
  const timeShiftMs = timeShiftOf(call.sentParameter, receiveTimeMs, principal.credential);
  if (typeof timeShiftMs === 'object') return timeShiftMs;

  const receiving = receive(principal);
  const received = receiving instanceof Promise ? await receiving : receiving;
  if (received.kind === 'gone') return undefined;
  if (received.kind !== 'received') return told(receivingRefusal(received, maxBodyBytes));
  if (receiving instanceof Promise) {
    // A sender that takes a minute for a body may have a key that was revoked meanwhile.
    const still = await accessOf(call, authenticate);
    if ('kind' in still) return still;
  }
  const leftMs = leftOf(timeoutMs, receiveTimeMs, clock);
  if (leftMs <= 0) return timeoutRefusal('nothing of this request was queued');
  const bytes = format === 'json' ? withoutByteOrderMark(received.bytes) : received.bytes;
  const answer = await method.answer({
    principal,
    callerRequest,
    receiveTimeMs,
    timeShiftMs,
    timeoutMs: leftMs,
    format,
    bytes,
    idempotencyKey: idempotencyKeyOf(headers),
  });
  return answer.kind === 'accepted' ? answer : told(answer);
}

/** The rest of the sender's time-out, which began when the head was there. */
function leftOf(timeoutMs: number, receiveTimeMs: number, clock: Clock): number {
  if (timeoutMs === Number.POSITIVE_INFINITY) return timeoutMs;
  return timeoutMs - (clock.nowMs() - receiveTimeMs);
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
