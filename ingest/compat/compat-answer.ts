// Answers to other vendors' SDKs: the status that each takes for success or for a reason to come back, and the headers
// by which pages of every origin may ask and read.

import type { IncomingHttpHeaders } from 'node:http';
import type { HttpAnswer } from '../../platform/http/plain/plain-request.ts';
import type { Refusal } from '../rpc/answer.ts';
import { pageHeaders } from '../rpc/cors.ts';
import type { Outcome } from './accept-items.ts';
import {
  type AnswerBody,
  type Answers,
  type FixedEndpoint,
  jsonBody,
  type SentHead,
} from './endpoint.ts';

/** Two hours; browsers lower it to their own maximum. */
const preflightSeconds = 7_200;
/** Names of headers, with commas between them. */
const headerNames = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{1,2048}$/;

/** Lets a page send whatever headers it asks for: they open nothing, and each vendor has its own. */
export function preflightAnswer(headers: IncomingHttpHeaders): HttpAnswer {
  const asked = headers['access-control-request-headers'];
  return {
    status: 204,
    headers: {
      ...pageHeaders(headers.origin),
      'access-control-allow-methods': 'GET, POST',
      ...(asked !== undefined &&
        headerNames.test(asked) && { 'access-control-allow-headers': asked }),
      'access-control-max-age': preflightSeconds,
      vary: 'origin, access-control-request-headers',
    },
    body: '',
  };
}

export function fixedAnswer({ answer }: FixedEndpoint, head: SentHead): HttpAnswer {
  return httpAnswer(200, answer(head), head);
}

export function compatAnswer(outcome: Outcome, answers: Answers, head: SentHead): HttpAnswer {
  const { accepted } = answers;
  if (outcome.kind === 'accepted') {
    return httpAnswer(accepted.status, accepted.body(outcome.events, head), head);
  }
  const status = statusOf(outcome, answers);
  if (status === 200) return httpAnswer(accepted.status, accepted.body(0, head), head);
  const { code, message, retryAfterSeconds } = outcome;
  const body = answers.refused?.(status, message) ?? jsonBody({ code, message });
  const isLater = status === answers.overload;
  const later = isLater ? { 'retry-after': retryAfterSeconds ?? 1 } : {};
  const answer = httpAnswer(status, body, head);
  return { ...answer, headers: { ...answer.headers, ...later } };
}

function statusOf({ code, reason }: Refusal, answers: Answers): number {
  const { overload, unreadable, tooLarge, denied } = answers;
  switch (code) {
    case 'invalid_argument':
      return reason === 'body_size' ? tooLarge : unreadable;
    case 'unauthenticated':
    case 'not_found':
      return denied ?? 401;
    case 'permission_denied':
    case 'unimplemented':
      return denied ?? 403;
    case 'resource_exhausted':
    case 'unavailable':
    case 'deadline_exceeded':
    case 'internal':
      return overload;
    default:
      return code satisfies never;
  }
}

function httpAnswer(status: number, { text, type }: AnswerBody, { headers }: SentHead): HttpAnswer {
  const body = Buffer.from(text);
  return {
    status,
    headers: {
      'content-type': type ?? 'application/json',
      'content-length': body.length,
      ...pageHeaders(headers.origin),
    },
    body,
  };
}
