// Decoded events become ready ones: written in the typed shape, scanned by the rules of BatchCreate with a private key,
// many at a time.

import { type DraftedEvent, type EventRules, keptEvents } from '../../ingest/compat/kept-events.ts';
import type { DraftContext, EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import type { Violation } from '../../ingest/validation/violation.ts';
import { maxBodyBytes, maxOccurTimeAheadMs, minOccurTimeMs } from '../../platform/limits.ts';
import type { Rule } from '../../proto/wire/rules.ts';
import type { ReadyEvent } from './ready-event.ts';

/** `number`: the row's. `kept`: under another kind. */
export type OnViolation = (number: number, violation: Violation, kept: boolean) => void;

export interface NumberedDraft {
  draft: EventDraft;
  number: number;
}

/** Of one body: V8 gives longer texts to its large objects, and then collects all that there is far more often. */
const maxCharacters = 100_000;
const maxEvents = 1_000;

/** The events that keep the rules; the others are told. */
export function checkEvents(
  drafts: readonly NumberedDraft[],
  context: DraftContext,
  tell: OnViolation,
): ReadyEvent[] {
  const { receiveTimeMs } = context;
  const body = { receiveTimeMs, maxBodyBytes, maxAgeMs: Number.POSITIVE_INFINITY };
  const rules: EventRules = {
    ...{ draft: context, body },
    tell: ({ index }, violation, isKept) => tell(index, violation, isKept),
  };
  const ready: ReadyEvent[] = [];
  let chunk: DraftedEvent[] = [];
  let characters = 0;
  const close = (): void => {
    if (chunk.length === 0) return;
    for (const { draft, written } of keptEvents(chunk, rules)) {
      const { text, kind, eventId, occurTimeMs: timeMs } = written;
      const hasSession = (draft.session ?? '') !== '';
      ready.push({ text, eventId, kind, distinctId: draft.distinctId ?? '', timeMs, hasSession });
    }
    chunk = [];
    characters = 0;
  };
  for (const { draft, number } of drafts) {
    const fault = faultOf(draft, receiveTimeMs);
    if (fault !== undefined) {
      tell(number, { index: -1, ...fault }, false);
      continue;
    }
    const written = draft.write(context);
    if (chunk.length === maxEvents || characters + written.text.length > maxCharacters) close();
    chunk.push({ draft, written, index: number });
    characters += written.text.length;
  }
  close();
  return ready;
}

/**
 * A live event without a time, or with one that no timestamp can name, occurs when it comes, and without an id is of
 * who sends it: neither holds here.
 */
function faultOf(
  { timeMs = Number.NaN, distinctId = '' }: EventDraft,
  nowMs: number,
): { field: string; rule: Rule } | undefined {
  if (Number.isNaN(timeMs)) return { field: 'occurTime', rule: 'required' };
  if (timeMs < minOccurTimeMs) return { field: 'occurTime', rule: 'time_early' };
  if (timeMs > nowMs + maxOccurTimeAheadMs) return { field: 'occurTime', rule: 'time_ahead' };
  return distinctId === '' ? { field: 'distinctId', rule: 'required' } : undefined;
}
