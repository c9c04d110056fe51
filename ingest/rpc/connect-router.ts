// BatchCreate for every encoding that the hot route leaves to the Connect router: gRPC, gRPC-web, Connect streams'
// content types. The router has decoded the message; from there on it is batch-create.ts's way.

import {
  Code,
  ConnectError,
  type ConnectRouter,
  createContextKey,
  type HandlerContext,
} from '@connectrpc/connect';
import { EventsService as ShortEventsService } from '../../proto/gen/events/v1/events_pb.js';
import { EventsService } from '../../proto/gen/sdk/events/v1/events_pb.js';
import type { CallerRequest } from '../caller/caller.ts';
import { type PlainContext, readPlainMessage } from '../validation/short-shape.ts';
import { type ReadBody, readMessage } from '../validation/text/readable-body.ts';
import { acceptEvents, countAnswer, type IngestParts } from './accept.ts';
import type { Accepted, Answer, Refusal, RefusalCode } from './answer.ts';
import { typedResponse } from './shapes.ts';

/** The other end's address, which the router's adapter must set: a handler's context does not hold it. */
export const peerAddressKey = createContextKey<string | undefined>(undefined, {
  description: 'peer address',
});

/** Both shapes of BatchCreate. */
export function registerBatchCreate(router: ConnectRouter, parts: IngestParts): void {
  router.service(EventsService, {
    batchCreate: async (message, context) =>
      typedResponse(await handle(context, parts, (limits) => readMessage(message, limits))),
  });
  router.service(ShortEventsService, {
    batchCreate: async (message, context) => {
      const read = (limits: PlainContext) => readPlainMessage(message, limits);
      return { eventsCreated: (await handle(context, parts, read)).events };
    },
  });
}

/** What was accepted; throws a ConnectError for every other answer. */
async function handle(
  context: HandlerContext,
  parts: IngestParts,
  read: (limits: PlainContext) => ReadBody,
): Promise<Accepted> {
  const answer = await answerCall(context, parts, read);
  countAnswer(answer, parts.metrics);
  if (answer.kind === 'accepted') return answer;
  throw refusalError(answer);
}

/** A refusal as the router throws it. */
export function refusalError(answer: Refusal): ConnectError {
  const metadata =
    answer.retryAfterSeconds === undefined
      ? undefined
      : { 'retry-after': String(answer.retryAfterSeconds) };
  return new ConnectError(answer.message, codes[answer.code], metadata);
}

/** What tells who calls, from a context of the router. */
export function requestOf(context: HandlerContext): {
  request: CallerRequest;
  apiKeyParameter: string | undefined;
} {
  return {
    request: {
      headers: Object.fromEntries(context.requestHeader),
      peerAddress: context.values.get(peerAddressKey),
    },
    apiKeyParameter: new URL(context.url).searchParams.get('api_key') ?? undefined,
  };
}

async function answerCall(
  context: HandlerContext,
  parts: IngestParts,
  read: (limits: PlainContext) => ReadBody,
): Promise<Answer> {
  const { clock, maxBodyBytes } = parts;
  const receiveTimeMs = clock.nowMs();
  const { request, apiKeyParameter } = requestOf(context);
  const principal = await parts.authenticate(request, apiKeyParameter);
  if ('kind' in principal) return principal;
  const caller = parts.callers.read(request, principal.credential);
  const timeoutMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
  const body = read({
    receiveTimeMs,
    maxBodyBytes,
    projectId: principal.projectId,
    idempotencyKey: context.requestHeader.get('idempotency-key') ?? undefined,
  });
  return acceptEvents({ principal, caller, request, receiveTimeMs, timeoutMs }, body, parts);
}

const codes: Readonly<Record<RefusalCode, Code>> = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  not_found: Code.NotFound,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  unimplemented: Code.Unimplemented,
  internal: Code.Internal,
};
