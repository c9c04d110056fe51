// Turns by work: an Alias of a hundred bytes writes the rows of all ids of a profile, up to 10,000, so the bytes and
// changes of messages do not say who holds the others up. No input or output.

import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { fairShare } from './fair-share.ts';
import { marksOf } from './take-turns.ts';

/** What one message makes the writer read and write beside its changes. */
export interface MemberWork {
  /** The marks of its projects; none where the message keeps its place among all others. */
  projects: readonly number[];
  /** Ids that are merged into the ids whose members its changes look at. */
  members: number;
}

/** Of all projects together in one batch; beside them goes one message that has more. */
export const maxBatchMembers = 5_000;
/** Projects whose last turn is remembered. */
const maxRemembered = 10_000;

export class MemberTurns {
  /** The projects that had a turn beyond their share; the latest last, with the number of the turn. */
  readonly #lastTurns = new Map<number, number>();
  #turns = 0;

  /**
   * Whether each message, in stream order, goes into the batch: at least one does. Each project has its fair share of
   * the members. One message may have more, as its projects' first: that of whoever had such a turn longest ago.
   * No message passes an earlier one of its projects.
   */
  take(messages: readonly MemberWork[]): boolean[] {
    const share = fairShare(wantedOf(messages).values(), maxBatchMembers);
    const given = new Map<number, number>();
    const blocked = new Set<number>();
    let large: number | undefined;
    const isTaken = messages.map((message, index) => {
      const marks = marksOf(message);
      const members = message.members / marks.length;
      const isNext = isOpen(message, blocked);
      if (isNext && marks.every((mark) => (given.get(mark) ?? 0) + members <= share)) {
        for (const mark of marks) given.set(mark, (given.get(mark) ?? 0) + members);
        return true;
      }
      const isFirst = isNext && marks.every((mark) => !given.has(mark));
      const rival = large === undefined ? undefined : messages[large];
      if (isFirst && (rival === undefined || this.#turnOf(message) < this.#turnOf(rival))) {
        large = index;
      }
      for (const mark of marks) blocked.add(mark);
      return false;
    });
    const taken = large === undefined ? undefined : messages[large];
    if (large === undefined || taken === undefined) return isTaken;
    isTaken[large] = true;
    this.#turns++;
    for (const mark of marksOf(taken)) {
      this.#lastTurns.delete(mark);
      setBounded(this.#lastTurns, mark, this.#turns, maxRemembered);
    }
    return isTaken;
  }

  #turnOf(message: MemberWork): number {
    return Math.max(...marksOf(message).map((mark) => this.#lastTurns.get(mark) ?? 0));
  }
}

/** Whether no message that is left comes before it. */
function isOpen(message: MemberWork, blocked: ReadonlySet<number>): boolean {
  if (blocked.size === 0) return true;
  const { projects } = message;
  if (projects.length === 0) return false;
  return ![...projects, ...marksOf({ projects: [] })].some((mark) => blocked.has(mark));
}

/** The members that each project wants to have looked at. */
function wantedOf(messages: readonly MemberWork[]): Map<number, number> {
  const wanted = new Map<number, number>();
  for (const message of messages) {
    const marks = marksOf(message);
    const members = message.members / marks.length;
    for (const mark of marks) wanted.set(mark, (wanted.get(mark) ?? 0) + members);
  }
  return wanted;
}
