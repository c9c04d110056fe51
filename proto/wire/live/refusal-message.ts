// A refused request as ingest tells it to query, by a core message. It holds names and places only: never a value of
// the request, nor the sentence that its sender got.

import { type MessageFields, readFields, textOf } from './message-fields.ts';

export interface RefusalMessage {
  timeMs: number;
  /** `package.Service/Method`; `compat/FAMILY` for another vendor's SDK. */
  method: string;
  /** The event's place in its request, from 0; -1 where the rule is about no single event. */
  eventIndex: number;
  field: string;
  /** The rule's name, or the reason why nothing was taken; empty where the message tells of `untold` alone. */
  rule: string;
  kind: string;
  sdk: string;
  /** Refusals of the project before this one that were not told. */
  untold: number;
}

const maxFieldCharacters = 200;
const maxNameCharacters = 200;
const maxSdkCharacters = 64;

/** Whether the message is about a refusal, and not only about those that were not told. */
export function isRefusal({ rule }: Pick<RefusalMessage, 'rule'>): boolean {
  return rule !== '';
}

/** The message about refusals that were not told, where no other follows. */
export function untoldRefusals(timeMs: number, untold: number): RefusalMessage {
  const nothing = { method: '', eventIndex: -1, field: '', rule: '', kind: '', sdk: '' };
  return { timeMs, ...nothing, untold };
}

export function encodeRefusal(refusal: RefusalMessage): Uint8Array {
  return Buffer.from(JSON.stringify(refusal));
}

/** Undefined where the bytes are no such message. */
export function decodeRefusal(content: Uint8Array): RefusalMessage | undefined {
  const fields = readFields(content);
  if (fields === undefined || !isWhole(fields)) return undefined;
  const { timeMs, eventIndex, untold } = fields;
  return {
    ...{ timeMs, eventIndex, untold },
    method: textOf(fields['method'], maxNameCharacters),
    field: textOf(fields['field'], maxFieldCharacters),
    rule: textOf(fields['rule'], maxNameCharacters),
    kind: textOf(fields['kind'], maxNameCharacters),
    sdk: textOf(fields['sdk'], maxSdkCharacters),
  };
}

function isWhole(
  fields: MessageFields,
): fields is MessageFields & Pick<RefusalMessage, 'timeMs' | 'eventIndex' | 'untold'> {
  return ['timeMs', 'eventIndex', 'untold'].every((name) => Number.isSafeInteger(fields[name]));
}
