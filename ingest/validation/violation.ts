// A violation: the rule that a request breaks, its place, and the sentence for the caller. The rules are listed in
// proto/wire/rules.ts. A violation never holds a value of the request, so that it can be logged and counted.

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
}

/** `events[3].kind: must match ^[a-zA-Z0-9_.-]+$` */
export function describeViolation({ index, field, rule, detail }: Violation): string {
  const event = index < 0 ? '' : `events[${index}]`;
  const dot = event !== '' && field !== '' ? '.' : '';
  const end = detail === undefined ? '' : `, ${detail}`;
  return `${event}${dot}${field}: ${ruleText(rule, limits)}${end}`;
}
