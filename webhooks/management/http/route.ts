// The interface's place on the port. One request's steps: path -> HTTP method -> access -> rate -> content type -> body
// -> the method -> answer. Every answer, also of a refusal, is JSON.

import type { IncomingMessage } from 'node:http';
import type { BodyReceiver } from '../../../platform/http/bodies/received-body.ts';
import { type Lease, RequestMemory } from '../../../platform/http/bodies/request-memory.ts';
import { isJson } from '../../../platform/http/content-type.ts';
import type { NodeHttpRoute } from '../../../platform/http/http.ts';
import type { Log } from '../../../platform/log.ts';
import { partsOfCaller } from '../callers-parts.ts';
import type { ManagementParts } from '../management-parts.ts';
import { type AccessDeps, requireAccess } from './access.ts';
import { type Answer, closeOf, envelope, failureAnswer, writeAnswer } from './answer.ts';
import { readJsonBody } from './json-body.ts';
import type { Caller, Operation, PathValues } from './operation.ts';
import { queryValues } from './query-values.ts';
import type { TakeRate } from './rate-limit.ts';

export interface RouteOptions {
  operations: readonly Operation[];
  parts: ManagementParts;
  access: AccessDeps;
  takeRate: TakeRate;
  log: Log;
}

interface Place {
  /** Of the path, by HTTP method. */
  operations: ReadonlyMap<string, Operation>;
  path: PathValues;
}

interface Call {
  request: IncomingMessage;
  query: string;
  bodies: BodyReceiver;
  gone: AbortSignal;
}

/**
 * Of answers until their readers have them, apart from the memory of requests: whoever reads slowly holds up no events.
 * The longest answer, 1,000 endpoints' answers of 16 KiB, is less than the half that one organization may hold.
 */
const maxAnswersBytes = 48 * 1_048_576;

export function createManagementRoute(options: RouteOptions): NodeHttpRoute {
  const { log } = options;
  const find = createFind(options.operations);
  const answers = new RequestMemory(maxAnswersBytes);
  return (request, response, { path, query }, bodies) => {
    const place = find(path);
    if (place === undefined) return false;
    const leaving = new AbortController();
    void closeOf(response).then(() => leaving.abort());
    const call = { request, query, bodies, gone: leaving.signal };
    const served = bodies.memory.during(async (lease) => {
      const answer = await serve(options, place, call, lease);
      return { answer, holder: lease.holder };
    });
    void served.then(({ answer, holder }) => {
      if (answer === undefined) return undefined;
      bodies.answerUnread(request);
      return answers.during((lease) => {
        lease.claim(holder);
        return writeAnswer(response, answer, lease, log);
      });
    });
    return true;
  };
}

/** Undefined where the sender is gone. Never rejects. */
async function serve(
  options: RouteOptions,
  { operations, path }: Place,
  call: Call,
  lease: Lease,
): Promise<Answer | undefined> {
  const { request } = call;
  // node leaves the body out where HEAD is answered.
  const operation = operations.get(request.method === 'HEAD' ? 'GET' : (request.method ?? ''));
  if (operation === undefined) return notAllowed([...operations.keys()]);
  try {
    return await answerCall(options, operation, path, call, lease);
  } catch (error) {
    return failureAnswer(error, operation.name, options.log);
  }
}

async function answerCall(
  { access, takeRate, parts }: RouteOptions,
  operation: Operation,
  path: PathValues,
  { request, query, bodies, gone }: Call,
  lease: Lease,
): Promise<Answer | undefined> {
  const check = (): Promise<Caller | undefined> => checkAccess(access, operation, path, request);
  const caller = await check();
  if (caller !== undefined) {
    // Not the key: an organization may have many.
    lease.claim(caller.organizationId);
    takeRate(operation.rate, caller);
  }
  let body: unknown = {};
  if (operation.body !== undefined) {
    if (!isJson(request.headers['content-type'] ?? '')) return wrongType;
    const read = await readJsonBody(request, bodies, lease);
    if (read === undefined) return undefined;
    body = read.json;
    // A sender that takes a minute for a body may have a key that was revoked meanwhile.
    await check();
  }
  const values = queryValues(query, operation.query);
  const json = await operation.run(partsOfCaller(parts, caller), {
    path,
    query: values,
    body,
    gone,
  });
  return { status: operation.status, json: operation.answer === undefined ? undefined : json };
}

/** Undefined for a method that everybody may call. */
async function checkAccess(
  access: AccessDeps,
  { role, needsProof }: Operation,
  path: PathValues,
  { headers }: IncomingMessage,
): Promise<Caller | undefined> {
  if (role === undefined) return undefined;
  const organizationId = path['organization_id'] ?? '';
  const needs = { role, proof: needsProof === true };
  return requireAccess(access, headers.authorization, organizationId, needs);
}

const wrongType = envelope(415, 'invalid_argument', 'content-type must be application/json', {
  'accept-post': 'application/json',
});

function notAllowed(methods: string[]): Answer {
  const allowed = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allow = allowed.join(', ');
  return envelope(405, 'unimplemented', `this path takes ${allow}`, { allow });
}

function createFind(operations: readonly Operation[]): (path: string) => Place | undefined {
  const paths = [...new Set(operations.map(({ path }) => path))];
  const places = paths.map((path) => ({
    names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/]{1,128})')}$`),
    operations: new Map(
      operations
        .filter((operation) => operation.path === path)
        .map((operation): [string, Operation] => [operation.method, operation]),
    ),
  }));
  return (path) => {
    if (!path.startsWith('/v1/') && path !== '/openapi.json') return undefined;
    for (const { names, pattern, operations } of places) {
      const match = pattern.exec(path);
      if (match === null) continue;
      const values = names.map((name, index) => [name, match[index + 1] ?? '']);
      return { operations, path: Object.fromEntries(values) };
    }
    return undefined;
  };
}
