// Which of a decoder's events keep the rules: all are scanned as one body, and each alone where one breaks a rule.

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
  const whole = scan(chunk, rules);
  if (whole.kind === 'valid') return { events: chunk, read: whole };
  const events = chunk.flatMap((event) => keptOf(event, rules));
  return { events, read: events.length === 0 ? undefined : scan(events, rules) };
}

function keptOf(event: DraftedEvent, rules: EventRules): DraftedEvent[] {
  const read = scan([event], rules);
  if (read.kind === 'valid') return [event];
  const { violation } = read;
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
