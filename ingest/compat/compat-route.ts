// The requests of other vendors' SDKs over HTTP: which of them are taken, preflights, and answers that need no project.
// Tried behind every path of our own. One request's events are compat-call.ts's.

import type { NodeHttpRoute } from '../../platform/http/http.ts';
import { writeAnswer } from '../rpc/http-answer.ts';
import { fixedAnswer, preflightAnswer } from './compat-answer.ts';
import { type CallOptions, serveCall } from './compat-call.ts';
import type { CollectEndpoint, Endpoint, SentHead } from './endpoint.ts';
import { endpointsOf } from './families.ts';

export interface CompatOptions extends CallOptions {
  onPreflight: () => void;
}

export function createCompatRoute(options: CompatOptions): NodeHttpRoute {
  const { log, onPreflight } = options;
  return (request, response, { path, query }, bodies) => {
    const endpoints = endpointsOf(path);
    if (endpoints.length === 0) return false;
    const { method, headers } = request;
    if (method === 'OPTIONS') {
      if (headers['access-control-request-method'] !== undefined) onPreflight();
      writeAnswer(response, preflightAnswer(headers), log);
      return true;
    }
    if (method !== 'GET' && method !== 'POST') return false;
    const head = { path, query: new URLSearchParams(query), headers };
    const fixed = endpoints.find((endpoint) => endpoint.kind === 'fixed');
    if (fixed?.kind === 'fixed') {
      bodies.answerUnread(request);
      writeAnswer(response, fixedAnswer(fixed, head), log);
      return true;
    }
    const collecting = endpoints.filter((endpoint) => takes(endpoint, method, head));
    if (collecting.length === 0) return false;
    bodies.memory
      .during(async (lease) => {
        const call = { head, endpoints: collecting, request, bodies, lease };
        const answer = await serveCall(options, call);
        bodies.answerUnread(request);
        writeAnswer(response, answer, log);
      })
      .catch((error: unknown) => {
        // Nobody else would hear of it: the process would end.
        log.error({ err: error }, 'a request of another vendor’s SDK was not answered');
        response.destroy();
      });
    return true;
  };
}

/** A GET without parameters is somebody's who looks for a page. */
function takes(endpoint: Endpoint, method: string, head: SentHead): endpoint is CollectEndpoint {
  if (endpoint.kind !== 'collect' || endpoint.hasHead?.(head) === false) return false;
  return method === 'POST' || (endpoint.takesGet === true && head.query.size > 0);
}
