// Identify and Alias: rules -> limit -> publish, for the hot route and for every encoding that it leaves to the Connect
// router. The queue is the shard's own for profiles, whose order is the order in which changes take effect.

import { create, toBinary } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import type { Log } from '../../platform/log.ts';
import {
  AliasResponseSchema,
  IdentifyResponseSchema,
  ProfilesSDKService,
} from '../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { encodeContext } from '../../proto/wire/frame.ts';
import { encodeChange } from '../../proto/wire/profile-change.ts';
import type { CallerRequest } from '../caller/caller.ts';
import type { IngestMetrics } from '../metrics.ts';
import {
  aliasReader,
  type ChangeReader,
  identifyReader,
  type ReadChange,
} from '../validation/identity-rules.ts';
import type { AuthenticatedCall, IngestParts, Principal } from './accept.ts';
import {
  type Answer,
  limitRefusal,
  publishedAnswer,
  type Refusal,
  violationRefusal,
} from './answer.ts';
import { refusalError, requestOf } from './connect-router.ts';
import { createUnaryRoute, type UnaryMethod, type UnaryRoute } from './unary-route.ts';

export interface IdentifyParts
  extends Pick<IngestParts, 'eventLimit' | 'publisher' | 'shardOf' | 'clock' | 'maxBodyBytes'> {
  authenticate: (
    method: string,
    request: CallerRequest,
    apiKeyParameter: string | undefined,
  ) => Principal | Refusal | Promise<Principal | Refusal>;
  metrics: Pick<IngestMetrics, 'acceptedChanges' | 'refusedRequests'>;
}

/** Identify and Alias store nothing about the caller. */
type ChangeCall = Pick<AuthenticatedCall, 'principal' | 'receiveTimeMs' | 'timeoutMs'>;

const service = 'sdk.profiles.v1.ProfilesSDKService';
const aliasOfService = 'profiles.v1.ProfilesSDKService';

/** The route for Identify and Alias by both names of their service. */
export function createIdentify(parts: IdentifyParts, log: Log): UnaryRoute {
  const methods = new Map<string, UnaryMethod>();
  for (const name of [service, aliasOfService]) {
    methods.set(`/${name}/Identify`, {
      ...methodOf('Identify', identifyReader, parts),
      writeBinary: () => toBinary(IdentifyResponseSchema, create(IdentifyResponseSchema)),
    });
    methods.set(`/${name}/Alias`, {
      ...methodOf('Alias', aliasReader, parts),
      writeBinary: () => toBinary(AliasResponseSchema, create(AliasResponseSchema)),
    });
  }
  const { clock, maxBodyBytes } = parts;
  return createUnaryRoute({ methods, clock, maxBodyBytes, log });
}

function methodOf(
  name: string,
  reader: ChangeReader,
  parts: IdentifyParts,
): Omit<UnaryMethod, 'writeBinary'> {
  return {
    authenticate: (request, apiKeyParameter) =>
      parts.authenticate(`${service}/${name}`, request, apiKeyParameter),
    answer: ({ format, bytes, ...call }) =>
      acceptChange(
        call,
        format === 'json' ? reader.readJson(bytes) : reader.readBinary(bytes),
        parts,
      ),
    count: (answer) => countAnswer(answer, parts.metrics),
    writeJson: () => '{}',
  };
}

/** Both methods on the Connect router. */
export function registerIdentify(router: ConnectRouter, parts: IdentifyParts): void {
  router.service(ProfilesSDKService, {
    identify: async (message, context) => {
      await handle('Identify', context, () => identifyReader.readFields({ ...message }), parts);
      return {};
    },
    alias: async (message, context) => {
      await handle('Alias', context, () => aliasReader.readFields({ ...message }), parts);
      return {};
    },
  });
}

/** Throws a ConnectError for every answer but success. */
async function handle(
  name: string,
  context: HandlerContext,
  read: () => ReadChange,
  parts: IdentifyParts,
): Promise<void> {
  const receiveTimeMs = parts.clock.nowMs();
  const { request, apiKeyParameter } = requestOf(context);
  const principal = await parts.authenticate(`${service}/${name}`, request, apiKeyParameter);
  const timeoutMs = context.timeoutMs() ?? Number.POSITIVE_INFINITY;
  const answer =
    'kind' in principal
      ? principal
      : await acceptChange({ principal, receiveTimeMs, timeoutMs }, read(), parts);
  countAnswer(answer, parts.metrics);
  if (answer.kind !== 'accepted') throw refusalError(answer);
}

async function acceptChange(
  { principal, receiveTimeMs, timeoutMs }: ChangeCall,
  read: ReadChange,
  parts: IdentifyParts,
): Promise<Answer> {
  if (read.kind === 'invalid') return violationRefusal(read.violation);
  const waitSeconds = parts.eventLimit.take(principal.keyId, 1);
  if (waitSeconds > 0) return limitRefusal(waitSeconds);
  const { projectId, credential } = principal;
  const context = encodeContext({ projectId, credential, receiveTimeMs });
  const request = { context, body: encodeChange(read.change), events: 1 };
  const published = await parts.publisher.publish(parts.shardOf(projectId), request, timeoutMs);
  return publishedAnswer(published, 1);
}

function countAnswer(answer: Answer, metrics: IdentifyParts['metrics']): void {
  if (answer.kind === 'accepted') metrics.acceptedChanges.inc();
  else metrics.refusedRequests.inc({ reason: answer.reason });
}
