// BatchCreate on the Connect router, for every protocol and content type that the unary route leaves to it: gRPC,
// gRPC-web, Connect with other content types. The router decodes binary messages; JSON is read here, by the same
// readers as on the unary route. The rest is accept.ts's.

import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import type { Authenticate } from '../../platform/access/authenticate.ts';
import { receivedJsonOf } from '../../platform/http/bodies/router-bodies.ts';
import { callerRequestOf } from '../../platform/http/caller-request.ts';
import { EventsService as ShortEventsService } from '../../proto/gen/events/v1/events_pb.js';
import { EventsService } from '../../proto/gen/sdk/events/v1/events_pb.js';
import { timeShiftOf } from '../caller/sent-time.ts';
import type { Refusals } from '../refusals/refusals.ts';
import {
  readShortJsonBody,
  readShortMessage,
  type ShortContext,
} from '../validation/short-shape.ts';
import { type ReadBody, readMessage } from '../validation/text/reference-body.ts';
import { scanJsonBody } from '../validation/text/scan-body.ts';
import { acceptEvents, bodyContext, countAnswer, type IngestParts, readWithin } from './accept.ts';
import type { Accepted, Answer, Refusal, RefusalCode } from './answer.ts';
import { authenticateCall, type Principal } from './authenticate.ts';
import { laneMark } from './lane.ts';
import { typedResponse } from './shapes.ts';

/** Reads a request in each form that a handler of the router gets it in. */
interface RequestReader {
  /** JSON in an envelope: its text. */
  json(text: Buffer, limits: ShortContext): ReadBody;
  /** Everything else: the message that the router decoded. */
  message(limits: ShortContext): ReadBody;
}

/** Registers BatchCreate in both shapes. */
export function registerBatchCreate(router: ConnectRouter, parts: IngestParts): void {
  router.service(EventsService, {
    batchCreate: async (sent, context) => {
      const message = (limits: ShortContext) => readMessage(sent, limits);
      return typedResponse(await handle(context, parts, { json: scanJsonBody, message }));
    },
  });
  router.service(ShortEventsService, {
    batchCreate: async (sent, context) => {
      const message = (limits: ShortContext) => readShortMessage(sent, limits);
      const { events } = await handle(context, parts, { json: readShortJsonBody, message });
      return { eventsCreated: events };
    },
  });
}

/** Throws a ConnectError for every answer but acceptance. */
async function handle(
  context: HandlerContext,
  parts: IngestParts,
  reader: RequestReader,
): Promise<Accepted> {
  const answer = await answerCall(context, parts, reader);
  countAnswer(answer, parts.metrics);
  if (answer.kind === 'accepted') return answer;
  throw refusalError(answer);
}

/** The error by which a handler of the router refuses. */
export function refusalError(answer: Refusal): ConnectError {
  const metadata =
    answer.retryAfterSeconds === undefined
      ? undefined
      : { 'retry-after': String(answer.retryAfterSeconds) };
  return new ConnectError(answer.message, codes[answer.code], metadata);
}

/** `authenticateCall` for a handler of the router. */
export function authenticateContext(
  authenticate: Authenticate,
  context: HandlerContext,
): Principal | Refusal | Promise<Principal | Refusal> {
  const method = `${context.service.typeName}/${context.method.name}`;
  const apiKeyParameter = parameterOf(context, 'api_key') ?? undefined;
  return authenticateCall(authenticate, method, callerRequestOf(context), apiKeyParameter);
}

/** `timeShiftOf` for a handler of the router. */
export function timeShiftOfContext(
  context: HandlerContext,
  receiveTimeMs: number,
  { credential }: Principal,
): number | Refusal {
  return timeShiftOf(parameterOf(context, 'sent'), receiveTimeMs, credential);
}

function parameterOf(context: HandlerContext, name: string): string | null {
  return new URL(context.url).searchParams.get(name);
}

async function answerCall(
  context: HandlerContext,
  parts: IngestParts,
  reader: RequestReader,
): Promise<Answer> {
  const receiveTimeMs = parts.clock.nowMs();
  const principal = await authenticateContext(parts.authenticate, context);
  if ('kind' in principal) return principal;
  const refused = originRefusal(parts, context, principal);
  if (refused !== undefined) return refused;
  const timeShiftMs = timeShiftOfContext(context, receiveTimeMs, principal);
  if (typeof timeShiftMs === 'object') return timeShiftMs;
  const request = callerRequestOf(context);
  const caller = parts.callers.read(request, principal.credential);
  const timeoutMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
  const idempotencyKey = context.requestHeader.get('idempotency-key') ?? undefined;
  const limits = bodyContext(principal, { receiveTimeMs, timeShiftMs }, idempotencyKey, parts);
  const json = receivedJsonOf(context);
  const body =
    json === undefined
      ? reader.message(limits)
      : readWithin(parts.eventLimit, principal.keyId, json.length, () => reader.json(json, limits));
  const project = laneMark(principal, request);
  const call = { principal, project, caller, request, receiveTimeMs, timeShiftMs, timeoutMs };
  const answer = 'code' in body ? body : await acceptEvents(call, body, parts);
  if (answer.kind === 'refused') tellRefusal(parts.refusals, context, principal, answer);
  return answer;
}

/** The project's people are told of it too. */
export function originRefusal(
  { senders, refusals }: Pick<IngestParts, 'senders' | 'refusals'>,
  context: HandlerContext,
  principal: Principal,
): Refusal | undefined {
  const refused = senders.refusalOf(principal, context.requestHeader.get('origin') ?? undefined);
  if (refused !== undefined) tellRefusal(refusals, context, principal, refused);
  return refused;
}

export function tellRefusal(
  refusals: Pick<Refusals, 'tell'>,
  context: HandlerContext,
  { projectId }: Principal,
  refusal: Refusal,
): void {
  const userAgent = context.requestHeader.get('user-agent') ?? undefined;
  refusals.tell({
    projectId,
    method: `${context.service.typeName}/${context.method.name}`,
    refusal,
    headers: { 'user-agent': userAgent },
  });
}

const codes: Readonly<Record<RefusalCode, Code>> = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  deadline_exceeded: Code.DeadlineExceeded,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
};
