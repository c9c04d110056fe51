// POST /mcp on the port: agents ask by the Model Context Protocol, without sessions. One request's steps: HTTP method,
// origin, access, body, the kit's server. What a tool refuses is its result; what stands here is refused by HTTP.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import type { Authenticate } from '../platform/access/authenticate.ts';
import type { BodyReceiver } from '../platform/http/bodies/received-body.ts';
import type { Lease } from '../platform/http/bodies/request-memory.ts';
import type { NodeHttpRoute } from '../platform/http/http.ts';
import { parseUrl } from '../platform/http/parse-url.ts';
import type { Log } from '../platform/log.ts';
import type { Callers } from './call-tool.ts';
import type { AnswerMcp } from './mcp-server.ts';

export interface McpOptions {
  authenticate: Authenticate;
  /** Where the service itself answers: the tools call its methods there, as the caller. */
  baseUrl(): string;
  /** The published definitions. */
  descriptorsFile: string;
  log: Log;
}

const path = '/mcp';
/** What every tool's caller may do at the least: the methods ask for themselves again. */
const leastMethod = 'shared.insights.v1.InsightsService/GetFilterSchema';
/** As long as the questions that the methods take. */
const maxBodyBytes = 256 * 1_024;
/** Credentials go on as they came. */
const credentialHeaders = ['x-api-key', 'authorization', 'x-project-id'] as const;
/** A subscription would never end. */
const unanswered: ReadonlySet<unknown> = new Set(['subscriptions/listen', 'resources/subscribe']);

export function createMcpRoute(options: McpOptions): NodeHttpRoute {
  let answer: Promise<AnswerMcp> | undefined;
  let transport: Transport | undefined;
  const parts = {
    ...options,
    // Few services have agents: the kit's modules are read when the first one comes.
    answerMcp: () => {
      answer ??= import('./mcp-server.ts')
        .then(({ createAnswerMcp }) => createAnswerMcp(options.descriptorsFile))
        .catch((error: unknown) => {
          answer = undefined;
          throw error;
        });
      return answer;
    },
    transport: () => {
      transport ??= createConnectTransport({ baseUrl: options.baseUrl(), httpVersion: '1.1' });
      return transport;
    },
  };
  return (request, response, { path: asked }, bodies) => {
    if (asked !== path) return false;
    const served = bodies.memory.during((lease) => serve(parts, request, response, bodies, lease));
    void served.then((answered) => {
      bodies.answerUnread(request);
      if (answered !== undefined) write(response, answered);
    });
    return true;
  };
}

type Parts = McpOptions & { answerMcp(): Promise<AnswerMcp>; transport(): Transport };

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

/** Undefined where the sender is gone. Never rejects. */
async function serve(
  parts: Parts,
  request: IncomingMessage,
  response: ServerResponse,
  bodies: BodyReceiver,
  lease: Lease,
): Promise<Answer | undefined> {
  const gone = new AbortController();
  response.on('error', () => {});
  response.once('close', () => gone.abort());
  try {
    if (request.method !== 'POST') return refusal(405, 'this path takes POST', { allow: 'POST' });
    if (!isOwnOrigin(request)) return refusal(403, 'pages of another origin may not ask here');
    const refused = await refusedAccess(parts, request, lease);
    if (refused !== undefined) return refused;
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const received = await bodies.receive(request, { lease, maxBytes: maxBodyBytes, encoding });
    if (received.kind === 'gone') return undefined;
    if (received.kind === 'busy') return refusal(503, 'too many requests: ask again');
    if (received.kind !== 'received') {
      return refusal(400, `the body must be JSON of at most ${maxBodyBytes} bytes`);
    }
    const text = Buffer.from(received.bytes).toString();
    const body = parse(text);
    if (body === undefined) return refusal(400, 'the body must be one JSON-RPC message');
    if (unanswered.has(body.method)) return unknownMethod(body.id);
    const headers = Object.fromEntries(
      credentialHeaders.flatMap((name) => {
        const value = request.headers[name];
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    return await ask(parts, request, text, body.json, {
      transport: parts.transport(),
      baseUrl: parts.baseUrl(),
      headers,
      signal: gone.signal,
    });
  } catch (error) {
    parts.log.error({ err: error }, 'an agent could not be answered');
    return refusal(500, 'this request could not be answered');
  }
}

/** A browser's page of the service itself has the host that it asks. Programs send no origin. */
function isOwnOrigin({ headers: { origin, host } }: IncomingMessage): boolean {
  if (origin === undefined) return true;
  return parseUrl(origin)?.host === host;
}

async function refusedAccess(
  { authenticate }: Parts,
  { headers }: IncomingMessage,
  lease: Lease,
): Promise<Answer | undefined> {
  const single = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const found = await authenticate(leastMethod, {
    apiKey: single('x-api-key'),
    authorization: headers.authorization,
    projectIdHeader: single('x-project-id'),
  });
  if (found.kind === 'ok') {
    lease.claim(found.principal.projectId);
    return undefined;
  }
  if (found.kind !== 'refused') return refusal(403, 'the project is not known');
  const how = 'send the private key as x-api-key or as Authorization: Bearer';
  switch (found.code) {
    case 'unauthenticated':
      return refusal(401, `${found.message}; ${how}`, { 'www-authenticate': 'Bearer' });
    case 'unavailable':
      return refusal(503, found.message, { 'retry-after': '1' });
    default:
      return refusal(403, `${found.message}; ${how}`);
  }
}

interface RpcBody {
  json: object;
  method?: unknown;
  id?: unknown;
}

/** Undefined where it is no object: lists of messages are not taken. */
function parse(text: string): RpcBody | undefined {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
    return {
      json,
      ...('method' in json && { method: json.method }),
      ...('id' in json && { id: json.id }),
    };
  } catch {
    return undefined;
  }
}

async function ask(
  parts: Parts,
  { headers }: IncomingMessage,
  text: string,
  json: object,
  callers: Callers,
): Promise<Answer> {
  const answerMcp = await parts.answerMcp();
  const own = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('mcp-') && typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  const request = new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: {
      ...Object.fromEntries(own),
      'content-type': 'application/json',
      // The kit refuses whoever does not take both; simple programs take one.
      accept: 'application/json, text/event-stream',
    },
    body: text,
    signal: callers.signal,
  });
  const answered = await answerMcp(request, json, callers);
  const type = answered.headers.get('content-type');
  return {
    status: answered.status,
    headers: type === null ? {} : { 'content-type': type },
    body: await answered.text(),
  };
}

function unknownMethod(id: unknown): Answer {
  const error = { code: -32_601, message: 'this server has no subscriptions' };
  return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, error }) };
}

function refusal(status: number, message: string, headers: Record<string, string> = {}): Answer {
  const error = { code: -32_000, message };
  return { status, headers, body: JSON.stringify({ jsonrpc: '2.0', id: null, error }) };
}

function write(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...headers,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
