// Tells ingest which projects fill a shard's queue, again and again while it is so: their senders are to slow down.
// While the writer stores nothing, nobody is told: the broker's disk keeps what comes, as long as it has room.

import { everyBeat } from '../../../platform/broker/beat.ts';
import { crowdingSubject } from '../../../platform/live/live-subjects.ts';
import { encodeCrowding } from '../../../proto/wire/live/crowding-message.ts';
import { Backlog } from './backlog.ts';

const tellEveryMs = 250;
/** A batch takes a second or two. After a longer time without one, an engine is away or hangs. */
const storingMs = 10_000;

interface TellCrowdingOptions {
  shard: number;
  source: {
    /** The marks of the projects that fill the queue beyond their share, one alone too where too much waits. */
    crowding(isTooLong: boolean): number[];
    /** Messages that wait, and that were stored so far. */
    readonly progress: { waiting: number; stored: number };
  };
  send(subject: string, content: Uint8Array): void;
  /** Reports how many projects are told to slow down. */
  onTold(projects: number): void;
}

interface CrowdingTeller {
  /** To be called whenever a batch is done. */
  noteStored(): void;
  close(): void;
}

export function tellCrowding(options: TellCrowdingOptions): CrowdingTeller {
  const { source } = options;
  const backlog = new Backlog();
  let storedMs = performance.now();
  const find = (): number[] => {
    const nowMs = performance.now();
    if (nowMs - storedMs > storingMs) {
      backlog.interrupt();
      return [];
    }
    const { waiting, stored } = source.progress;
    return source.crowding(backlog.isTooLong(waiting, stored, nowMs));
  };
  const tell = (): void => {
    const marks = find();
    options.onTold(marks.length);
    if (marks.length > 0) options.send(crowdingSubject(options.shard), encodeCrowding(marks));
  };
  const stopTelling = everyBeat(tellEveryMs, tell);
  return {
    noteStored() {
      storedMs = performance.now();
    },
    close() {
      stopTelling();
      options.onTold(0);
    },
  };
}
