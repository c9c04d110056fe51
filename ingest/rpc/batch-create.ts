// BatchCreate on the unary route, in both shapes. One call's steps after its body is whole: caller -> rules -> limit ->
// publish. Other protocols come through connect-router.ts and end in the same functions.

import type { Log } from '../../platform/log.ts';
import { acceptEvents, bodyContext, countAnswer, type IngestParts, readWithin } from './accept.ts';
import { laneMark } from './lane.ts';
import { type ShapeRoute, shapeRoutes } from './shapes.ts';
import { createUnaryRoute, type UnaryMethod, type UnaryRoute } from './unary-route.ts';

/** The route for the paths of both shapes. */
export function createBatchCreate(parts: IngestParts, log: Log): UnaryRoute {
  const methods = new Map<string, UnaryMethod>();
  for (const [path, shape] of shapeRoutes) methods.set(path, methodOf(path.slice(1), shape, parts));
  const { authenticate, clock, maxBodyBytes, refusals, senders } = parts;
  return createUnaryRoute({ methods, authenticate, clock, maxBodyBytes, refusals, senders, log });
}

function methodOf(accessMethod: string, shape: ShapeRoute, parts: IngestParts): UnaryMethod {
  return {
    accessMethod,
    answer(received) {
      const { principal, callerRequest, receiveTimeMs, timeShiftMs, timeoutMs } = received;
      const { format, bytes, idempotencyKey } = received;
      const caller = parts.callers.read(callerRequest, principal.credential);
      const readBody = format === 'json' ? shape.readJson : shape.readBinary;
      const { keyId } = principal;
      const context = bodyContext(principal, received, idempotencyKey, parts);
      const read = readWithin(parts.eventLimit, keyId, bytes.length, () =>
        readBody(bytes, context),
      );
      if ('code' in read) return read;
      const times = { receiveTimeMs, timeShiftMs, timeoutMs };
      const project = laneMark(principal, callerRequest);
      const call = { principal, project, caller, request: callerRequest, ...times };
      return acceptEvents(call, read, parts);
    },
    count: (answer) => countAnswer(answer, parts.metrics),
    writeJson: shape.writeJson,
    writeBinary: shape.writeBinary,
  };
}
