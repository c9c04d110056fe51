// What an attempt means for its delivery, and how much of it the log may tell.

import type { ErrorClass } from '../../../platform/webhooks/attempt-record.ts';
import { readRetryAfter } from '../retries/retry-plan.ts';
import type { PostResult } from './post.ts';

export interface AttemptOutcome {
  kind: 'succeeded' | 'failed' | 'gone';
  /** 0 without an answer. */
  responseCode: number;
  /** Empty for a success. */
  error: ErrorClass | '';
  responseBody: string;
  /** What the receiver asked for; it can only lengthen a delay. */
  retryAfterMs: number | undefined;
}

/** The statuses of which Retry-After is heard. */
const busyCodes = new Set([429, 503]);
const goneCode = 410;

export function outcomeOf(result: PostResult, nowMs: number): AttemptOutcome {
  if (result.kind === 'failed') return failedWithout(result.failure, result.code);
  const { code: responseCode, text: responseBody } = result;
  const answer = { responseCode, responseBody };
  const retryAfterMs = busyCodes.has(responseCode)
    ? readRetryAfter(result.retryAfter, nowMs)
    : undefined;
  if (responseCode >= 200 && responseCode < 300) {
    return { ...answer, kind: 'succeeded', error: '', retryAfterMs };
  }
  if (responseCode === goneCode) {
    return { ...answer, kind: 'gone', error: 'http_status', retryAfterMs };
  }
  const isRedirect = responseCode >= 300 && responseCode < 400;
  const error = isRedirect ? 'redirected' : 'http_status';
  return { ...answer, kind: 'failed', error, retryAfterMs };
}

const errorOf = {
  unreached: 'connection_failed',
  connection: 'connection_failed',
  timeout: 'timeout',
  tls: 'tls_failed',
  body: 'body_failed',
} as const satisfies Record<string, ErrorClass>;

function failedWithout(failure: keyof typeof errorOf, responseCode: number): AttemptOutcome {
  const error = errorOf[failure];
  return { kind: 'failed', responseCode, error, responseBody: '', retryAfterMs: undefined };
}

/**
 * The outcome of an endpoint that refused to be looked at: no answer's text, and but for silence one class for whatever
 * failed before an answer, so that the log of a webhook is no scanner of a network that the operator opened. Silence is
 * told: its time shows in the next attempt's, and whoever looks after the receiver must know it.
 */
export function withoutDetail(outcome: AttemptOutcome): AttemptOutcome {
  const isTold = outcome.responseCode !== 0 || outcome.error === '' || outcome.error === 'timeout';
  return { ...outcome, error: isTold ? outcome.error : 'connection_failed', responseBody: '' };
}
