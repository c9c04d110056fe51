// The pages for the operator. Whether the process lives and is ready, in one word, and its service definitions are open
// to everybody; the pages that tell more ask for the operator's token. The checks themselves are readiness.ts.

import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OnlyThisMachine } from '../access/only-this-machine.ts';
import { createSecretCheck } from '../secrets/secret-check.ts';
import { peerAddressOf } from './caller-request.ts';
import type { NodeHttpRoute } from './http.ts';
import { isReady, type Readiness } from './readiness.ts';

/** The part of prom-client's Registry that the page needs. */
export interface MetricsPage {
  contentType: string;
  metrics(): Promise<string>;
}

/** `/metrics` and `/readyz?verbose`, and who may read them. */
interface DetailedPages {
  metrics: MetricsPage;
  /** Absent, nobody may, except where only this machine reaches the service. */
  token: string | undefined;
  onlyThisMachine: OnlyThisMachine;
}

interface Page {
  status: number;
  type: string;
  body: string | Buffer;
  headers?: Readonly<Record<string, string>>;
}

const text = 'text/plain; charset=utf-8';

/** `descriptorsFile` is read once. */
export function createOperatorRoutes(options: {
  readiness: () => Promise<Readiness>;
  /** Absent where they are on a port of their own. */
  detailed: DetailedPages | undefined;
  descriptorsFile: string;
}): NodeHttpRoute {
  const { readiness, detailed } = options;
  const descriptors = readFileSync(options.descriptorsFile);
  const guard = detailed === undefined ? () => elsewhere : createGuard(detailed);
  return (request, response, { path, query }) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false;
    const answer = (page: Page): true => send(response, page);
    switch (path) {
      case '/healthz':
        return answer({ status: 200, type: text, body: 'ok\n' });
      case '/readyz': {
        const isVerbose = new URLSearchParams(query).has('verbose');
        const refusal = isVerbose ? guard(request) : undefined;
        if (refusal !== undefined) return answer(refusal);
        void readiness().then((ready) => answer(isVerbose ? verbosePage(ready) : wordPage(ready)));
        return true;
      }
      case '/metrics': {
        const refusal = guard(request);
        if (refusal !== undefined || detailed === undefined) return answer(refusal ?? elsewhere);
        void metricsPage(detailed.metrics).then(answer);
        return true;
      }
      case '/descriptors.binpb':
        return answer({ status: 200, type: 'application/octet-stream', body: descriptors });
      default:
        return false;
    }
  };
}

const elsewhere: Page = {
  status: 404,
  type: text,
  body: 'this page is on the port that MILLRACE_OPERATOR_PORT names\n',
};
const unauthorized: Page = {
  status: 401,
  type: text,
  body: 'this page needs Authorization: Bearer and the value of MILLRACE_OPERATOR_TOKEN\n',
  headers: { 'www-authenticate': 'Bearer realm="millrace operator"' },
};

/** Undefined lets the request pass. */
function createGuard({ token, onlyThisMachine }: DetailedPages) {
  const isToken = token === undefined ? () => false : createSecretCheck(`Bearer ${token}`);
  return (request: IncomingMessage): Page | undefined => {
    const { headers, socket } = request;
    if (isToken(headers.authorization ?? '')) return undefined;
    return onlyThisMachine({ headers, peerAddress: peerAddressOf(socket) })
      ? undefined
      : unauthorized;
  };
}

/** The answer is kept for a second. */
const retryAfter = { 'retry-after': '1' };

function wordPage(ready: Readiness): Page {
  return isReady(ready)
    ? { status: 200, type: text, body: 'ready\n' }
    : { status: 503, type: text, body: 'unready\n', headers: retryAfter };
}

function verbosePage(ready: Readiness): Page {
  const page = { type: 'application/json', body: `${JSON.stringify(ready)}\n` };
  return isReady(ready) ? { status: 200, ...page } : { status: 503, ...page, headers: retryAfter };
}

function metricsPage(page: MetricsPage): Promise<Page> {
  return page.metrics().then(
    (body) => ({ status: 200, type: page.contentType, body }),
    () => ({ status: 500, type: text, body: 'metrics could not be read\n' }),
  );
}

function send(response: ServerResponse, { status, type, body, headers }: Page): true {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
  return true;
}
