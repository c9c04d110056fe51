// Which of a decoder's events keep the rules: all are scanned as one body, and parts of it where one breaks a rule.

import type { Rule } from '../../proto/wire/rules.ts';
import type { BodyContext, ReadBody } from '../validation/text/reference-body.ts';
import { scanJsonBody } from '../validation/text/scan-body.ts';
import type { Violation } from '../validation/violation.ts';
import type { DraftContext, EventDraft, WrittenEvent } from './mapping/event-draft.ts';

export interface DraftedEvent {
  draft: EventDraft;
  written: WrittenEvent;
  /** Its place in the request, or in the file. */
  index: number;
}

export interface EventRules {
  draft: DraftContext;
  body: BodyContext;
  /** `isKept`: under another kind, to which the rule does not apply. */
  tell: (event: DraftedEvent, violation: Violation, isKept: boolean) => void;
}

/** The events that keep the rules. The others are told; one that breaks its kind's rules alone becomes unchecked. */
export function keptEvents(
  chunk: readonly DraftedEvent[],
  rules: EventRules,
): readonly DraftedEvent[] {
  const broken: Broken = new Map();
  findBroken(chunk, rules, broken);
  return broken.size === 0 ? chunk : chunk.flatMap((event) => keptOf(event, rules, broken));
}

/** The same events as one body; undefined where none is left. */
export function keptBody(chunk: readonly DraftedEvent[], rules: EventRules): ReadBody | undefined {
  const whole = readBody(Buffer.from(bodyText(chunk)), rules);
  if (whole.kind === 'valid') return whole;
  const events = keptEvents(chunk, rules);
  return events.length === 0 ? undefined : readBody(Buffer.from(bodyText(events)), rules);
}

/** Which events break a rule. */
type Broken = Map<DraftedEvent, Violation>;

/** A scan ends at the first violation, so the events are scanned again, in parts of which few break a rule. */
function findBroken(events: readonly DraftedEvent[], rules: EventRules, broken: Broken): void {
  if (events.length === 0) return;
  const violation = violationOf(events, rules);
  if (violation === undefined) return;
  const found = events[events.length === 1 ? 0 : violation.index];
  if (found !== undefined) broken.set(found, violation);
  const { kind } = found?.written ?? {};
  // What is wrong with one is likely to be wrong with all of its kind, such as a property that has another name.
  const isAlike = (event: DraftedEvent): boolean =>
    !isOfKind(violation) || event.written.kind === kind;
  const alike = events.filter((event) => event !== found && isAlike(event));
  const middle = alike.length >> 1;
  findBroken(alike.slice(0, middle), rules, broken);
  findBroken(alike.slice(middle), rules, broken);
  findBroken(
    events.filter((event) => !isAlike(event)),
    rules,
    broken,
  );
}

function keptOf(event: DraftedEvent, rules: EventRules, broken: Broken): DraftedEvent[] {
  const violation = broken.get(event);
  if (violation === undefined) return [event];
  const unchecked = isOfKind(violation)
    ? { ...event, written: event.draft.write(rules.draft, true) }
    : undefined;
  const isKept = unchecked !== undefined && violationOf([unchecked], rules) === undefined;
  rules.tell(event, violation, isKept);
  return isKept ? [unchecked] : [];
}

const rulesOfKinds = /^well_known_/;

/** Whether the properties break a rule of the event's well-known kind. */
function isOfKind({ rule, field }: Violation): boolean {
  return rulesOfKinds.test(rule) || (rule === ('member_spelling' satisfies Rule) && field !== '');
}

/** For the bytes of texts that are only looked at: to make a buffer for each takes longer than to scan it. */
const scratch = Buffer.alloc(1_048_576);
const maxBytesPerCharacter = 3;
const [bodyStart, bodyEnd] = ['{"events":[', ']}'];
const comma = 0x2c;

function violationOf(events: readonly DraftedEvent[], rules: EventRules): Violation | undefined {
  const read = readBody(scratchBody(events) ?? Buffer.from(bodyText(events)), rules);
  return read.kind === 'valid' ? undefined : read.violation;
}

/** Undefined where it might not fit. */
function scratchBody(events: readonly DraftedEvent[]): Buffer | undefined {
  let characters = bodyStart.length + bodyEnd.length;
  for (const { written } of events) characters += written.text.length + 1;
  if (characters * maxBytesPerCharacter > scratch.length) return undefined;
  let at = scratch.write(bodyStart);
  let isFirst = true;
  for (const { written } of events) {
    if (!isFirst) scratch[at++] = comma;
    isFirst = false;
    at += scratch.write(written.text, at);
  }
  at += scratch.write(bodyEnd, at);
  return scratch.subarray(0, at);
}

function readBody(bytes: Buffer, { body }: EventRules): ReadBody {
  return scanJsonBody(bytes, { ...body, sessionOptional: true });
}

function bodyText(events: readonly DraftedEvent[]): string {
  return bodyStart + events.map(({ written }) => written.text).join(',') + bodyEnd;
}
