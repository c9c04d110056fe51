// The states and the ends of a shard's writer, the same for events and for profiles.

/** The step a writer is at; nothing else about its progress is logged or asked. */
export type WriterState =
  /** Another process has the shard, and this one waits for it to end. */
  | 'standby'
  | 'loading'
  | 'recovering'
  | 'waiting'
  | 'promising'
  | 'inserting'
  | 'finishing'
  /** It has failed and waits to start again. */
  | 'failed'
  | 'stopped'
  /** Another writer has taken the shard over. */
  | 'fenced'
  /** Going on could lose or double events: an operator has to look. */
  | 'halted';

/** Why a writer ended. */
export type WriterEnd =
  | { kind: 'stopped' }
  | { kind: 'fenced' }
  | { kind: 'halted'; reason: string };

/** Whether it writes, or waits for messages. */
export function isWriting(state: WriterState): boolean {
  switch (state) {
    case 'waiting':
    case 'promising':
    case 'inserting':
    case 'finishing':
      return true;
    case 'standby':
    case 'loading':
    case 'recovering':
    case 'failed':
    case 'stopped':
    case 'fenced':
    case 'halted':
      return false;
    default:
      return state satisfies never;
  }
}
