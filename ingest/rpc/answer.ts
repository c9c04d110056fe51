// How a request ends: accepted, or refused with one of Connect's codes. The same answers leave through the unary route
// and through the Connect router; nothing here knows either.

import { busy } from '../../platform/http/bodies/received-body.ts';
import type { DroppedEvents } from '../cookieless/visitor-ids.ts';
import type { Published } from '../publish/sent-frames.ts';
import { describeViolation, type Violation } from '../validation/violation.ts';

/** The Connect codes that ingest uses. */
export type RefusalCode =
  | 'invalid_argument'
  | 'unauthenticated'
  | 'permission_denied'
  | 'not_found'
  | 'resource_exhausted'
  | 'unavailable'
  | 'deadline_exceeded'
  | 'unimplemented'
  | 'internal';

export interface Refusal {
  kind: 'refused';
  code: RefusalCode;
  /** For the caller; never holds a value of the request. */
  message: string;
  /** The label under which refusals are counted, from a closed set. */
  reason: string;
  retryAfterSeconds?: number;
  /** What breaks the rule, where `reason` is one. */
  place?: Pick<Violation, 'index' | 'field' | 'eventKind'>;
}

export interface Accepted {
  kind: 'accepted';
  events: number;
  /** Cookieless events that got no id, and events that their project excludes; absent where there are none. */
  dropped?: DroppedEvents;
}

export type Answer = Accepted | Refusal;

/** Whatever is away, a retry a second later may find it back. */
const retryWhenAwaySeconds = 1;

export function refusal(code: RefusalCode, reason: string, message: string): Refusal {
  const answer: Refusal = { kind: 'refused', code, reason, message };
  if (code === 'unavailable') answer.retryAfterSeconds = retryWhenAwaySeconds;
  return answer;
}

export function violationRefusal(violation: Violation): Refusal {
  const message = describeViolation(violation);
  const { rule: reason } = violation;
  return { kind: 'refused', code: 'invalid_argument', reason, message, place: violation };
}

/** Without both, one visitor cannot be told from another. */
export function identityRefusal(): Refusal {
  return refusal(
    'invalid_argument',
    'identity_headers_missing',
    'identity_headers_missing: cookieless events need a User-Agent header and a client address',
  );
}

export function limitRefusal(retryAfterSeconds: number): Refusal {
  const message = `the key's rate limit is reached: retry in ${retryAfterSeconds} s`;
  return { ...refusal('resource_exhausted', 'rate_limit', message), retryAfterSeconds };
}

/** A full queue empties as fast as events are stored: after a second a retry is worth it. */
const retryWhenFullSeconds = 1;
/** A full disk waits for a person. */
const retryWhenDiskFullSeconds = 10;

/** Others wait because of what the project sent: a second later a batch more of it is stored. */
export function crowdingRefusal(): Refusal {
  const message =
    'so much of this project waits to be stored that others wait too, nothing of this request was queued: ' +
    `retry in ${retryWhenFullSeconds} s`;
  const slowed = refusal('resource_exhausted', 'project_queue_full', message);
  return { ...slowed, retryAfterSeconds: retryWhenFullSeconds };
}

export function busyRefusal(): Refusal {
  const { message, retryAfterSeconds } = busy;
  return { ...refusal('resource_exhausted', 'busy', message), retryAfterSeconds };
}

/** `effect` says whether the request was queued. */
export function timeoutRefusal(effect: string): Refusal {
  const message = `the caller's time-out has passed: ${effect}`;
  return refusal('deadline_exceeded', 'caller_timeout', message);
}

/** `retry` says how the request is repeated, so that it takes effect once. */
export function publishedAnswer(published: Published, events: number, retry: string): Answer {
  const unknown = `it is not known whether this request was queued: ${retry}`;
  switch (published) {
    case 'stored':
      return { kind: 'accepted', events };
    case 'full': {
      const message = 'the queue is full, nothing of this request was queued: retry later';
      const full = refusal('resource_exhausted', 'broker_full', message);
      return { ...full, retryAfterSeconds: retryWhenFullSeconds };
    }
    case 'disk_full': {
      const message = 'the disk is nearly full, nothing of this request was queued: retry later';
      const full = refusal('resource_exhausted', 'disk_full', message);
      return { ...full, retryAfterSeconds: retryWhenDiskFullSeconds };
    }
    case 'unavailable':
      return refusal('unavailable', 'broker_unavailable', unknown);
    case 'timed_out':
      return timeoutRefusal(unknown);
    default:
      return published satisfies never;
  }
}
