// The states and the ends of a shard's writer, the same for events and for profiles.

/** The step a writer is at; nothing else about its progress is logged or asked. */
export type WriterState =
  | 'loading'
  | 'recovering'
  | 'waiting'
  | 'promising'
  | 'inserting'
  | 'finishing'
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
