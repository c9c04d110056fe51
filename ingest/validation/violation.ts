// A violation: the rule that a request breaks, its place, and the sentence for the caller. The rules are listed in
// proto/wire/rules.ts. A violation holds no value of the request but a kind, which is a name, so that it can be logged
// and counted.

import { dayMs } from '../../platform/clock.ts';
import * as limits from '../../platform/limits.ts';
import { type Rule, ruleText } from '../../proto/wire/rules.ts';

export interface Violation {
  /** The event's place in the request, from 0; -1 where the violation is about no single event. */
  index: number;
  /** The field's path inside the event, or inside the request where index is -1. */
  field: string;
  rule: Rule;
  /** The limit or the number that was sent, where the rule's text does not hold it. */
  detail?: string;
  /** The event's kind, where it keeps the rules of a kind: for the project's people, not for the answer. */
  eventKind?: string;
}

/** The detail of `occur_time_too_old`: the bound, and what a sender can do. */
export function tooOldDetail(maxAgeMs: number): string {
  const days = maxAgeMs / dayMs;
  return (
    `at most ${days} ${days === 1 ? 'day' : 'days'}: send older events from a server with a private key, ` +
    "and check the device's clock"
  );
}

/** `events[3].kind: must match ^[a-zA-Z0-9_.-]+$` */
export function describeViolation({ index, field, rule, detail }: Violation): string {
  const event = index < 0 ? '' : `events[${index}]`;
  const dot = event !== '' && field !== '' ? '.' : '';
  const end = detail === undefined ? '' : `, ${detail}`;
  return `${event}${dot}${field}: ${ruleText(rule, limits)}${end}`;
}
