// How far a project's set-up has come, told by its live stream, by what is stored and by what IngestHealth says.

import { useEffect, useState } from 'preact/hooks';
import { kindName } from '../../platform/words/value-words.ts';
import {
  type IngestHealthResponse,
  type Refusal,
  type WatchRow,
  WatchStage,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { inProject } from '../client.ts';
import { activity, openFeed } from '../feed/live-feed.ts';
import { toDate } from '../time/time.tsx';

/** When it was seen, and what it was; undefined while it was not. */
export type Seen = { at: Date; what: string } | undefined;

export type Progress = {
  request: Seen;
  accepted: Seen;
  stored: Seen;
  identified: Seen;
  /** When a page of any project asked whether it may send; undefined while none did since this page was opened. */
  preflight: Date | undefined;
  /** The newest refusal of each fault, newest first. */
  refusals: Refusal[];
  /** Nothing came since the page was opened, for a while. */
  isQuiet: boolean;
};

const quietMs = 20_000;
const healthEveryMs = 5_000;
const maxRefusals = 3;
/** Refusals of this long ago still say what is wrong now. */
const recentMs = 15 * 60_000;

const nothing: Progress = {
  ...{ request: undefined, accepted: undefined, stored: undefined, identified: undefined },
  ...{ preflight: undefined, refusals: [], isQuiet: false },
};

export function useProgress(projectId: string): Progress {
  const [progress, setProgress] = useState<Progress>(nothing);
  useEffect(() => {
    const end = new AbortController();
    const { feed, end: close } = openFeed(projectId);
    const stop = feed.onRows((rows) => setProgress((last) => rows.reduce(withRow, last)));
    const quiet = window.setTimeout(
      () => setProgress((last) => ({ ...last, isQuiet: true })),
      quietMs,
    );
    void newestStored(projectId, end.signal).then(
      (stored) => setProgress((last) => withStored(last, stored)),
      // The bar of the connection says so; the stream tells what comes from now on.
      () => {},
    );
    const openedMs = Date.now();
    const stopAsking = followHealth(projectId, end.signal, (health) =>
      setProgress((last) => withHealth(last, health, openedMs)),
    );
    return () => {
      end.abort();
      stop();
      close();
      stopAsking();
      window.clearTimeout(quiet);
    };
  }, [projectId]);
  return progress;
}

function withRow(last: Progress, { stage, event, time, refusal }: WatchRow): Progress {
  const at = time ? toDate(time) : new Date();
  const what = event?.kind ? kindName(event.kind) : '';
  const seen = { at, what };
  switch (stage) {
    case WatchStage.ARRIVING:
      return { ...last, request: seen, isQuiet: false };
    case WatchStage.STORED:
    case WatchStage.DUPLICATE:
      return { ...last, request: last.request ?? seen, accepted: seen, stored: seen };
    case WatchStage.DEAD:
      return { ...last, request: last.request ?? seen, accepted: seen };
    case WatchStage.REFUSED:
    case WatchStage.UNSPECIFIED:
      return refusal ? withRefusals(last, [refusal]) : last;
    default:
      return stage satisfies never;
  }
}

function withRefusals(last: Progress, refusals: readonly Refusal[]): Progress {
  const newest = refusals[0];
  if (!newest) return last;
  const at = newest.time ? toDate(newest.time) : new Date();
  return {
    ...last,
    request: last.request ?? { at, what: `refused: ${newest.rule}` },
    refusals: newestOfEach([...refusals, ...last.refusals]),
  };
}

/** A sender that repeats its fault is told once. `refusals` have the newest first. */
function newestOfEach(refusals: readonly Refusal[]): Refusal[] {
  const seen = new Map<string, Refusal>();
  for (const refusal of refusals) {
    const name = `${refusal.method} ${refusal.rule} ${refusal.field}`;
    if (!seen.has(name)) seen.set(name, refusal);
  }
  return [...seen.values()].slice(0, maxRefusals);
}

/** What the stream tells is newer than what was there before. */
function withStored(last: Progress, stored: Seen): Progress {
  return {
    ...last,
    request: last.request ?? stored,
    accepted: last.accepted ?? stored,
    stored: last.stored ?? stored,
  };
}

async function newestStored(projectId: string, signal: AbortSignal): Promise<Seen> {
  const { events } = await activity.list({ pageSize: 1 }, inProject(projectId, signal));
  const newest = events[0];
  return (
    newest?.occurTime && {
      at: toDate(newest.occurTime),
      what: kindName(newest.kind),
    }
  );
}

function withHealth(
  last: Progress,
  { identifyTime, preflightTime, refusals }: IngestHealthResponse,
  openedMs: number,
): Progress {
  const isRecent = ({ time }: Refusal): boolean =>
    time !== undefined && toDate(time).getTime() > openedMs - recentMs;
  const preflight = preflightTime && toDate(preflightTime);
  return {
    ...withRefusals(last, refusals.filter(isRecent)),
    identified: identifyTime && { at: toDate(identifyTime), what: 'Identify was called' },
    preflight: preflight && preflight.getTime() > openedMs ? preflight : last.preflight,
  };
}

/** Asks for what the stream does not tell, until somebody was named. */
function followHealth(
  projectId: string,
  signal: AbortSignal,
  tell: (health: IngestHealthResponse) => void,
): () => void {
  const ask = async (): Promise<void> => {
    if (document.visibilityState === 'hidden') return;
    const health = await activity.ingestHealth({ pageSize: 1 }, inProject(projectId, signal));
    if (health.identifyTime) window.clearInterval(timer);
    tell(health);
  };
  const askAgain = (): void => void ask().catch(() => {});
  const timer = window.setInterval(askAgain, healthEveryMs);
  askAgain();
  return () => window.clearInterval(timer);
}
