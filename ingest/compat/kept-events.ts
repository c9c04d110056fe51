// Which of a decoder's events keep the rules: all are scanned as one body, and parts of it where an event breaks a rule.

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

interface KeptEvents {
  events: readonly DraftedEvent[];
  /** Of all of them as one body; undefined where none is left. */
  read: ReadBody | undefined;
}

/** Without the events that break a rule, which are told; one that breaks its kind's rules alone becomes unchecked. */
export function keptEvents(chunk: readonly DraftedEvent[], rules: EventRules): KeptEvents {
  const read = scan(chunk, rules);
  if (read.kind === 'valid') return { events: chunk, read };
  const events = parted(chunk, read.violation, rules);
  return { events, read: events.length === 0 ? undefined : scan(events, rules) };
}

/** Takes out the event that breaks a rule, and scans those before it, and those behind it in two halves. */
function parted(
  events: readonly DraftedEvent[],
  violation: Violation,
  rules: EventRules,
): readonly DraftedEvent[] {
  const index = events.length === 1 ? 0 : violation.index;
  const broken = events.slice(Math.max(0, index), index + 1);
  const before = broken.length === 0 ? 0 : index;
  const behind = before + broken.length;
  const middle = (behind + events.length) >> 1;
  return [
    ...keptPart(events.slice(0, before), rules),
    ...broken.flatMap((event) => keptOf(event, violation, rules)),
    ...keptPart(events.slice(behind, middle), rules),
    ...keptPart(events.slice(middle), rules),
  ];
}

function keptPart(events: readonly DraftedEvent[], rules: EventRules): readonly DraftedEvent[] {
  if (events.length === 0) return events;
  const read = scan(events, rules);
  return read.kind === 'valid' ? events : parted(events, read.violation, rules);
}

function keptOf(event: DraftedEvent, violation: Violation, rules: EventRules): DraftedEvent[] {
  const unchecked = isOfKind(violation)
    ? { ...event, written: event.draft.write(rules.draft, true) }
    : undefined;
  const isKept = unchecked !== undefined && scan([unchecked], rules).kind === 'valid';
  rules.tell(event, violation, isKept);
  return isKept ? [unchecked] : [];
}

const rulesOfKinds = /^well_known_/;

/** Whether the properties break a rule of the event's well-known kind. */
function isOfKind({ rule, field }: Violation): boolean {
  return rulesOfKinds.test(rule) || (rule === ('member_spelling' satisfies Rule) && field !== '');
}

function scan(events: readonly DraftedEvent[], { body }: EventRules): ReadBody {
  const texts = events.map(({ written }) => written.text);
  const bytes = Buffer.from(`{"events":[${texts.join(',')}]}`);
  return scanJsonBody(bytes, { ...body, sessionOptional: true });
}
