// Identify and Alias: rules -> limit -> publish, on the unary route and on the Connect router. Changes go to the
// shard's own profile stream, in whose order they take effect. Nothing is merged here: the pipeline does that.

import { create, toBinary } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { receivedJsonOf } from '../../platform/http/bodies/router-bodies.ts';
import { type CallerRequest, callerRequestOf } from '../../platform/http/caller-request.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Log } from '../../platform/log.ts';
import {
  AliasResponseSchema,
  IdentifyResponseSchema,
  ProfilesSDKService,
} from '../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { encodeContext, projectMark } from '../../proto/wire/frame.ts';
import { encodeChange } from '../../proto/wire/profile-change.ts';
import type { IngestMetrics } from '../metrics.ts';
import {
  aliasReader,
  type ChangeReader,
  identifyReader,
  type ReadChange,
} from '../validation/identity-rules.ts';
import { type AuthenticatedCall, type IngestParts, readWithin, tokensOf } from './accept.ts';
import {
  type Answer,
  crowdingRefusal,
  limitRefusal,
  publishedAnswer,
  violationRefusal,
} from './answer.ts';
import type { Principal } from './authenticate.ts';
import {
  authenticateContext,
  originRefusal,
  refusalError,
  tellRefusal,
  timeShiftOfContext,
} from './connect-router.ts';
import { createUnaryRoute, type UnaryMethod, type UnaryRoute } from './unary-route.ts';

type SharedParts =
  | 'authenticate'
  | 'eventLimit'
  | 'publisher'
  | 'crowding'
  | 'shardOf'
  | 'clock'
  | 'maxBodyBytes'
  | 'refusals'
  | 'senders'
  | 'callers';

export interface IdentifyParts extends Pick<IngestParts, SharedParts> {
  metrics: Pick<IngestMetrics, 'acceptedChanges' | 'refusedRequests'>;
}

/** A change is queued without its caller's place and agent, which its project's exclusions alone look at. */
type ChangeCall = Pick<AuthenticatedCall, 'principal' | 'request' | 'receiveTimeMs' | 'timeoutMs'>;

const service = 'sdk.profiles.v1.ProfilesSDKService';
const secondName = 'profiles.v1.ProfilesSDKService';

/** The route for Identify and Alias, under both names of their service. */
export function createIdentify(parts: IdentifyParts, log: Log): UnaryRoute {
  const methods = new Map<string, UnaryMethod>();
  for (const name of [service, secondName]) {
    methods.set(`/${name}/Identify`, {
      ...methodOf('Identify', identifyReader, parts),
      writeBinary: () => toBinary(IdentifyResponseSchema, create(IdentifyResponseSchema)),
    });
    methods.set(`/${name}/Alias`, {
      ...methodOf('Alias', aliasReader, parts),
      writeBinary: () => toBinary(AliasResponseSchema, create(AliasResponseSchema)),
    });
  }
  const { authenticate, clock, maxBodyBytes, refusals, senders } = parts;
  return createUnaryRoute({ methods, authenticate, clock, maxBodyBytes, refusals, senders, log });
}

function methodOf(
  name: string,
  reader: ChangeReader,
  parts: IdentifyParts,
): Omit<UnaryMethod, 'writeBinary'> {
  return {
    accessMethod: `${service}/${name}`,
    answer(call) {
      const { format, bytes } = call;
      const read = format === 'json' ? reader.readJson : reader.readBinary;
      const { keyId } = call.principal;
      const change = readWithin(parts.eventLimit, keyId, bytes.length, () => read(bytes));
      if ('code' in change) return change;
      const { principal, callerRequest: request, receiveTimeMs, timeoutMs } = call;
      const sent = { principal, request, receiveTimeMs, timeoutMs };
      return acceptChange(sent, change, bytes.length, parts);
    },
    count: (answer) => countAnswer(answer, parts.metrics),
    writeJson: () => '{}',
  };
}

/** Registers both methods on the Connect router. */
export function registerIdentify(router: ConnectRouter, parts: IdentifyParts): void {
  router.service(ProfilesSDKService, {
    identify: async (message, context) => {
      await handle(context, identifyReader, { ...message }, parts);
      return {};
    },
    alias: async (message, context) => {
      await handle(context, aliasReader, { ...message }, parts);
      return {};
    },
  });
}

/** Throws a ConnectError for every answer but acceptance. */
async function handle(
  context: HandlerContext,
  reader: ChangeReader,
  fields: JsonObject,
  parts: IdentifyParts,
): Promise<void> {
  const answer = await answerCall(context, reader, fields, parts);
  countAnswer(answer, parts.metrics);
  if (answer.kind !== 'accepted') throw refusalError(answer);
}

async function answerCall(
  context: HandlerContext,
  reader: ChangeReader,
  fields: JsonObject,
  parts: IdentifyParts,
): Promise<Answer> {
  const receiveTimeMs = parts.clock.nowMs();
  const principal = await authenticateContext(parts.authenticate, context);
  if ('kind' in principal) return principal;
  const refused = originRefusal(parts, context, principal);
  if (refused !== undefined) return refused;
  // A change has no time of its own: a wrong one is refused as it is elsewhere.
  const timeShiftMs = timeShiftOfContext(context, receiveTimeMs, principal);
  if (typeof timeShiftMs === 'object') return timeShiftMs;
  const json = receivedJsonOf(context);
  const bodyBytes = json?.length ?? 0;
  const change = readWithin(parts.eventLimit, principal.keyId, bodyBytes, () =>
    json === undefined ? reader.readFields(fields) : reader.readJson(json),
  );
  const request = callerRequestOf(context);
  const timeoutMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
  const answer =
    'code' in change
      ? change
      : await acceptChange(
          { principal, request, receiveTimeMs, timeoutMs },
          change,
          bodyBytes,
          parts,
        );
  if (answer.kind === 'refused') tellRefusal(parts.refusals, context, principal, answer);
  return answer;
}

/** `bodyBytes`: those that were read as JSON; 0 for a body that the router has decoded. */
export async function acceptChange(
  { principal, request: sent, receiveTimeMs, timeoutMs }: ChangeCall,
  read: ReadChange,
  bodyBytes: number,
  parts: IdentifyParts,
): Promise<Answer> {
  if (read.kind === 'invalid') return violationRefusal(read.violation);
  const { projectId, credential } = principal;
  const project = projectMark(projectId);
  if (parts.crowding.isSlowed(project)) return crowdingRefusal();
  const body = encodeChange(read.change);
  const tokens = tokensOf(1, Math.max(bodyBytes, body.length));
  const waitSeconds = parts.eventLimit.take(principal.keyId, tokens);
  if (waitSeconds > 0) return limitRefusal(waitSeconds);
  // The answer of an accepted change: nobody's page fails because somebody's visits are not counted.
  if (isExcluded(principal, sent, parts)) return { kind: 'accepted', events: 0 };
  const context = encodeContext({ projectId, credential, receiveTimeMs });
  // It may move 10,000 ids: the pipeline can put it off only together with what else is in its frame.
  const isAlone = read.change.kind === 'alias';
  const request = { context, body, events: 1, project, isAlone };
  const published = await parts.publisher.publish(parts.shardOf(projectId), request, timeoutMs);
  return publishedAnswer(published, 1, 'retry it unchanged');
}

/** By its caller: a change has no path. */
function isExcluded(principal: Principal, request: CallerRequest, parts: IdentifyParts): boolean {
  const rules = parts.senders.exclusionsOf(principal);
  if (rules === undefined) return false;
  const { callers } = parts;
  const caller = callers.read(request, principal.credential);
  return rules.ofRequest(caller, () => callers.address(request)) !== undefined;
}

export function countAnswer(answer: Answer, metrics: IdentifyParts['metrics']): void {
  if (answer.kind === 'accepted') metrics.acceptedChanges.inc(answer.events);
  else metrics.refusedRequests.inc({ reason: answer.reason });
}
