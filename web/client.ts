// The way to the service: one transport with the session's token, and the words for what went wrong.

import {
  type CallOptions,
  Code,
  ConnectError,
  type Interceptor,
  type Transport,
} from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { signal } from '@preact/signals';
import { fetchOnce } from './browser/early-calls.ts';
import { askedAgainSeconds, retryAfterSeconds } from './retries/retries.ts';
import {
  RenewalPostponed,
  refreshSession,
  session,
  accessToken as tokenOfSession,
} from './session.ts';

/** Whether the last call reached the service. The shell says so while it is false. */
export const isReachable = signal(true);

let heardMs = performance.now();
/** Whoever stops a service and clicks is slower. */
const touchMs = 2_000;

/** The service was heard. */
export function hear(): void {
  heardMs = performance.now();
  isReachable.value = true;
}

/** A stream of the service broke: nobody knows whether it is still there. */
export function loseTouch(): void {
  heardMs = Number.NEGATIVE_INFINITY;
}

/** Whether the service was heard just now, so that a call will reach it. */
export function isInTouch(): boolean {
  return isReachable.peek() && performance.now() - heardMs < touchMs;
}

const lost = () => new ConnectError('the service did not answer', Code.Unavailable);

/** A call that found no service fails with words of the browser, such as "Failed to fetch": it is made unavailable. */
export const plainLoss: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (cause) {
    const error = ConnectError.from(cause);
    const isLost = error.code === Code.Unknown && error.cause !== undefined;
    throw isLost ? lost() : error;
  }
};

/**
 * The token could not be renewed: the service is asked until it answers, and pages that failed ask again then. A busy
 * one has answered, and is asked again when it said.
 */
function notRenewed(cause: unknown): ConnectError {
  if (cause instanceof RenewalPostponed) {
    const seconds = String(Math.max(1, cause.waitSeconds));
    return new ConnectError(cause.message, Code.ResourceExhausted, { 'retry-after': seconds });
  }
  isReachable.value = false;
  return lost();
}

/** The access token of the moment; undefined where nobody is signed in. Throws where it could not be renewed. */
export async function accessToken(): Promise<string | undefined> {
  try {
    return await tokenOfSession();
  } catch (cause) {
    throw notRenewed(cause);
  }
}

/** Puts the token on each call, and repeats a call once whose token the service no longer takes. */
const withSession: Interceptor = (next) => async (request) => {
  const token = await accessToken();
  if (token) request.header.set('authorization', `Bearer ${token}`);
  try {
    const answer = await next(request);
    hear();
    return answer;
  } catch (cause) {
    const error = ConnectError.from(cause);
    if (error.code === Code.Unavailable) isReachable.value = false;
    else if (error.code !== Code.Canceled) hear();
    if (error.code !== Code.Unauthenticated || request.stream || !token) throw error;
    await refreshSession(token).catch((cause) => Promise.reject(notRenewed(cause)));
    const renewed = await accessToken();
    if (!renewed) throw error;
    request.header.set('authorization', `Bearer ${renewed}`);
    return next(request);
  }
};

/** Pages make the clients that they need of it, so that each page loads its own definitions only. */
export const transport: Transport = createConnectTransport({
  baseUrl: window.location.origin,
  useBinaryFormat: true,
  fetch: fetchOnce,
  interceptors: [withSession, plainLoss],
});

/** Options for a call that concerns one project. */
export function inProject(projectId: string, signal?: AbortSignal): CallOptions {
  return { headers: { 'x-project-id': projectId }, ...(signal ? { signal } : {}) };
}

/** A fetch of the webhooks' REST with the session's token; throws ConnectError with the problem's message. */
export async function rest<T>(method: string, path: string, body?: unknown): Promise<T> {
  const token = await accessToken();
  const response = await reached(path, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer: unknown = text === '' ? {} : JSON.parse(text);
  if (!response.ok) throw restError(response.status, answer);
  return answer as T;
}

async function reached(path: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(path, init);
    hear();
    return response;
  } catch {
    isReachable.value = false;
    throw lost();
  }
}

function restError(status: number, answer: unknown): ConnectError {
  const named = typeof answer === 'object' && answer !== null && 'message' in answer;
  const message = named ? String(answer.message) : `the service answered ${status}`;
  const codes: Record<number, Code> = {
    400: Code.InvalidArgument,
    401: Code.Unauthenticated,
    403: Code.PermissionDenied,
    404: Code.NotFound,
    409: Code.AlreadyExists,
    429: Code.ResourceExhausted,
  };
  return new ConnectError(message, codes[status] ?? Code.Internal);
}

/** What went wrong in one sentence, and what the reader can do about it in another. */
export function explain(cause: unknown): { what: string; todo: string } {
  const error = ConnectError.from(cause);
  const what = sentence(error.rawMessage) || 'Something went wrong.';
  switch (error.code) {
    case Code.Unavailable:
      return { what: 'The service did not answer.', todo: 'It is asked again as soon as it does.' };
    case Code.Unauthenticated:
      // Where nobody is signed in, a password or a link was refused, and the message says what to do.
      return session.peek().state === 'signed-in'
        ? { what: 'You are signed out.', todo: 'Sign in again; nothing you typed is lost.' }
        : { what, todo: '' };
    case Code.PermissionDenied:
      return { what, todo: 'Ask an admin of the organization for a higher role.' };
    case Code.NotFound:
      return { what: 'There is nothing here.', todo: 'It was deleted, or belongs to others.' };
    case Code.ResourceExhausted: {
      const seconds = retryAfterSeconds(error);
      const againSeconds = askedAgainSeconds(error);
      if (againSeconds !== undefined)
        return { what, todo: `The page asks again by itself in ${againSeconds} s.` };
      if (seconds === undefined)
        return { what, todo: 'Choose a shorter range or add a filter, and ask again.' };
      return { what, todo: `Ask again in ${seconds} s.` };
    }
    case Code.DeadlineExceeded:
      return { what: 'The answer took too long.', todo: 'Choose a shorter range or fewer groups.' };
    case Code.Aborted:
      return { what, todo: 'Somebody changed it meanwhile: load it again.' };
    case Code.InvalidArgument:
    case Code.FailedPrecondition:
    case Code.AlreadyExists:
      return { what, todo: 'Change the field that is named, and send it again.' };
    default:
      return { what, todo: 'Ask again. If it stays, look at the service’s log.' };
  }
}

/** A message begins with a capital, unless its first word is the name of a field. */
function sentence(message: string): string {
  return /^[a-z][a-z-]*[ ,]/.test(message)
    ? message.slice(0, 1).toUpperCase() + message.slice(1)
    : message;
}
