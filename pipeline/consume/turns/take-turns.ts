// Projects take turns in a shard: which of the messages that wait go into the next batch. Whoever wants less than its
// share of a batch gets all of it; what is left is for those with more, who wait behind the others. A message never
// passes an earlier one of the same project, nor one that does not say whose it is.

import { isImportMark } from '../../../proto/wire/frame.ts';
import type { StreamMessage } from '../event-stream.ts';
import { fairShare } from './fair-share.ts';

export interface WaitingMessage {
  message: StreamMessage;
  /** As the broker has it. */
  queuedBytes: number;
  /** Unpacked. */
  bytes: number;
  rows: number;
  /** The marks of its projects; none where the message keeps its place among all others. */
  projects: readonly number[];
}

/** Of one batch. */
interface BatchBounds {
  maxRows: number;
  maxBytes: number;
  maxMessages: number;
}

interface TurnBounds extends BatchBounds {
  /** The rows of imports that go into a batch: events of now wait for the insert of these. No bound unless given. */
  maxImportRows?: number;
  /** The part of a batch that is taken where several projects take turns: others' events wait for two batches. */
  enoughShare: number;
}

interface Turn {
  /** Ascending; at least one where any waits. */
  taken: WaitingMessage[];
  left: WaitingMessage[];
}

/** Stretches of messages that are left behind taken ones: the ledger keeps the stretches between them. */
const maxStretchesLeft = 2_000;
/** Stands for the messages that do not name their projects. */
const unknown = -1;

/** `waiting` in stream order. Takes all of it where one batch has room. */
export function takeTurns(waiting: readonly WaitingMessage[], limits: TurnBounds): Turn {
  const { maxImportRows = Number.POSITIVE_INFINITY } = limits;
  let importRows = 0;
  for (const one of waiting) if (isImport(one)) importRows += one.rows;
  if (importRows <= maxImportRows && new Batch(limits).hasRoomForAll(waiting)) {
    return { taken: [...waiting], left: [] };
  }
  importRows = 0;
  const bounds = boundsOf(waiting, limits);
  const batch = new Batch(bounds);
  const wanted = wantedOf(waiting, bounds);
  for (const [mark, part] of wanted) {
    if (isImportMark(mark)) wanted.set(mark, Math.min(part, maxImportRows / bounds.maxRows));
  }
  const share = fairShare(wanted.values(), 1);
  const turn: Turn = { taken: [], left: [] };
  const blocked = new Set<number>();
  const given = new Map<number, number>();
  let stretches = 0;
  let isLeft = false;
  for (const [index, one] of waiting.entries()) {
    const isOver = batch.isFull || stretches === maxStretchesLeft || blocked.has(unknown);
    if (isOver) {
      for (let at = index; at < waiting.length; at++) turn.left.push(waiting[at] ?? one);
      break;
    }
    const marks = marksOf(one);
    const cost = costOf(one, bounds) / marks.length;
    const isWithinShare = (mark: number): boolean => {
      const before = given.get(mark);
      return before === undefined || before + cost <= share;
    };
    const isFree = marks.every((mark) => !blocked.has(mark) && isWithinShare(mark));
    const isAlone = one.projects.length > 0 || blocked.size === 0;
    const rows = isImport(one) ? importRows + one.rows : 0;
    // The first message of imports always goes, or one that is larger would never.
    const isWithinLane = rows <= maxImportRows || importRows === 0;
    if (isFree && isAlone && isWithinLane && batch.add(one)) {
      importRows = Math.max(importRows, rows);
      for (const mark of marks) given.set(mark, (given.get(mark) ?? 0) + cost);
      turn.taken.push(one);
      isLeft = false;
    } else {
      for (const mark of marks) blocked.add(mark);
      turn.left.push(one);
      if (!isLeft) stretches++;
      isLeft = true;
    }
  }
  return turn;
}

/** What a batch holds so far. */
class Batch {
  readonly #bounds: BatchBounds;
  #rows = 0;
  #bytes = 0;
  #messages = 0;

  constructor(bounds: BatchBounds) {
    this.#bounds = bounds;
  }

  get isFull(): boolean {
    const { maxRows, maxBytes, maxMessages } = this.#bounds;
    return this.#rows >= maxRows || this.#bytes >= maxBytes || this.#messages >= maxMessages;
  }

  hasRoomForAll(waiting: readonly WaitingMessage[]): boolean {
    let rows = 0;
    let bytes = 0;
    for (const one of waiting) {
      rows += one.rows;
      bytes += one.bytes;
    }
    const { maxRows, maxBytes, maxMessages } = this.#bounds;
    return rows <= maxRows && bytes <= maxBytes && waiting.length <= maxMessages;
  }

  /** False, and nothing is added, where it has no room; the first message always has. */
  add({ rows, bytes }: WaitingMessage): boolean {
    const { maxRows, maxBytes } = this.#bounds;
    const fits = this.#rows + rows <= maxRows && this.#bytes + bytes <= maxBytes;
    if (!fits && this.#messages > 0) return false;
    this.#rows += rows;
    this.#bytes += bytes;
    this.#messages++;
    return true;
  }
}

/** A project that is alone has whole batches, whose parts are fewer and cheaper to merge. */
function boundsOf(waiting: readonly WaitingMessage[], limits: TurnBounds): BatchBounds {
  const { maxRows, maxBytes, maxMessages, enoughShare } = limits;
  const first = waiting[0]?.projects[0];
  const isAlone = waiting.every(
    ({ projects: [one, other] }) => one === first && other === undefined,
  );
  if (isAlone) return limits;
  return { maxRows: enoughShare * maxRows, maxBytes: enoughShare * maxBytes, maxMessages };
}

/** The parts of a batch that each project wants. */
function wantedOf(waiting: readonly WaitingMessage[], bounds: BatchBounds): Map<number, number> {
  const wanted = new Map<number, number>();
  for (const one of waiting) {
    const marks = marksOf(one);
    const cost = costOf(one, bounds) / marks.length;
    for (const mark of marks) wanted.set(mark, (wanted.get(mark) ?? 0) + cost);
  }
  return wanted;
}

/** The part of a batch that a message takes, by the bound to which it comes nearest. */
function costOf({ rows, bytes }: WaitingMessage, bounds: BatchBounds): number {
  const { maxRows, maxBytes, maxMessages } = bounds;
  return Math.max(rows / maxRows, bytes / maxBytes, 1 / maxMessages);
}

/** Whether all of the message is of imports. */
export function isImport({ projects }: Pick<WaitingMessage, 'projects'>): boolean {
  return projects.length > 0 && projects.every(isImportMark);
}

export function marksOf({ projects }: Pick<WaitingMessage, 'projects'>): readonly number[] {
  return projects.length > 0 ? projects : [unknown];
}
