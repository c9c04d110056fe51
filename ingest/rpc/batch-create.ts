// BatchCreate on the hot route. One request's way after its body is whole: caller -> rules -> limit -> publish. Other
// protocols come through service.ts and end in the same functions.

import type { Log } from '../../platform/log.ts';
import { acceptEvents, countAnswer, type IngestParts } from './accept.ts';
import { type ShapeRoute, shapeRoutes } from './shapes.ts';
import { createUnaryRoute, type UnaryMethod, type UnaryRoute } from './unary-route.ts';

/** The route for both paths. */
export function createBatchCreate(parts: IngestParts, log: Log): UnaryRoute {
  const methods = new Map<string, UnaryMethod>();
  for (const [path, shape] of shapeRoutes) methods.set(path, methodOf(shape, parts));
  const { clock, maxBodyBytes } = parts;
  return createUnaryRoute({ methods, clock, maxBodyBytes, log });
}

function methodOf(shape: ShapeRoute, parts: IngestParts): UnaryMethod {
  const { maxBodyBytes } = parts;
  return {
    authenticate: (request, apiKeyParameter) => parts.authenticate(request, apiKeyParameter),
    answer({ principal, callerRequest, receiveTimeMs, timeoutMs, format, bytes, idempotencyKey }) {
      const caller = parts.callers.read(callerRequest, principal.credential);
      const readBody = format === 'json' ? shape.readJson : shape.readBinary;
      const { projectId } = principal;
      const read = readBody(bytes, { receiveTimeMs, maxBodyBytes, projectId, idempotencyKey });
      const call = { principal, caller, request: callerRequest, receiveTimeMs, timeoutMs };
      return acceptEvents(call, read, parts);
    },
    count: (answer) => countAnswer(answer, parts.metrics),
    writeJson: shape.writeJson,
    writeBinary: shape.writeBinary,
  };
}
