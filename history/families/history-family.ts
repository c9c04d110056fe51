// What a family of exports is to the import: the form of its files, and how a row becomes events and identity calls.
// families.ts lists them.

import type { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import type { IdentityCall } from '../../ingest/compat/mapping/identity-call.ts';
import { hourMs, minuteMs } from '../../platform/clock.ts';
import type { ReadyEvent } from '../events/ready-event.ts';
import type { Input } from '../files/open-input.ts';
import type { Form, Row } from '../files/rows.ts';

/** Takes what rows say. */
export interface RowSink {
  event(draft: EventDraft): void;
  /** An event that is written already, and keeps the rules. */
  ready(event: ReadyEvent): void;
  /** `timeMs`: when it was said. */
  call(call: IdentityCall, timeMs: number): void;
}

/** Why a row is not kept, besides the rules of events. */
export const reasons = {
  row_json: 'no JSON: the line is damaged',
  row_object: 'no record: the line holds something else',
  row_columns: 'another number of columns than the format has',
  row_quote: 'a quote that is not closed: what follows it, up to 1 MiB, is taken for its text',
  row_length: 'longer than 8 MiB',
  event_name: 'without a name of an event',
  event_time: 'without a time that can be read',
  message_type: 'without the type of its message',
  no_person: 'without anybody’s id: nobody consented',
  sums_of_person: 'the sums of a person: no events can be made of them, export what=events',
  flat_columns: 'a column for each property, which loses their types: export columns=maps',
  no_action: 'no action of a user: a measurement, a cart that was left, or a description',
} as const;

/** Another option of the zone moves times by at most this. */
export const zoneDoubtMs = 27 * hourMs;
/**
 * What came live has the sender's clock where that was off by a minute at most, and the export has it set right by the
 * moments at which the vendor received: besides that minute the way of each request may take some.
 */
export const liveDoubtMs = 5 * minuteMs;

export interface HistoryFamily {
  /** As the command names it; ids that are made contain it. */
  name: string;
  form: Form;
  /** The order in which files must be read. */
  order?: (inputs: readonly Input[]) => Promise<readonly Input[]>;
  /** By how much the time of an event may differ from that of the same event that is stored. 0 unless given. */
  timeDoubtMs?: number;
  /** A sentence where the first rows of a file show that it would be read wrongly. */
  doubt?: (rows: readonly Row[]) => string | undefined;
  /** To be called at the beginning of each file, where a row depends on those before it. */
  begin?: () => void;
  /** `value` is what the form makes of a row. Returns why the row is not kept, in words. */
  decode: (value: unknown, sink: RowSink) => string | undefined;
  /** What else there is to say of what was read. */
  notes?: () => string[];
}
