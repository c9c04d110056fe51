// Events that a project's settings left out, as ingest tells query: a number for each rule, of about a second. On the
// subject of refusals, whose own messages have another form.

import { readFields } from './message-fields.ts';

export interface ExclusionMessage {
  timeMs: number;
  excluded: Readonly<Record<string, number>>;
}

const rulePrefix = 'excluded_';
const maxRules = 20;

export function encodeExclusions(message: ExclusionMessage): Uint8Array {
  return Buffer.from(JSON.stringify(message));
}

/** Undefined where the bytes are no such message. */
export function decodeExclusions(content: Uint8Array): ExclusionMessage | undefined {
  const { timeMs, excluded } = readFields(content) ?? {};
  if (typeof timeMs !== 'number' || !Number.isSafeInteger(timeMs)) return undefined;
  if (typeof excluded !== 'object' || excluded === null) return undefined;
  const counts: Record<string, number> = {};
  for (const [rule, events] of Object.entries(excluded).slice(0, maxRules)) {
    if (!isExclusionRule(rule) || !Number.isSafeInteger(events) || events < 1) return undefined;
    counts[rule] = events;
  }
  return { timeMs, excluded: counts };
}

/** Whether a rule counts events that were left out, and no requests that were refused. */
export function isExclusionRule(rule: string): boolean {
  return rule.startsWith(rulePrefix);
}
