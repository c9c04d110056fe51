// How far a project's set-up has come, told by its live stream, by what is stored and by what was refused.

import { createClient } from '@connectrpc/connect';
import { useEffect, useState } from 'preact/hooks';
import {
  type Refusal,
  type WatchRow,
  WatchStage,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { ProfilesService } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { inProject, transport } from '../client.ts';
import { activity, openFeed } from '../shell/live-feed.ts';
import { toDate } from '../time/time.tsx';

/** When it was seen, and what it was; undefined while it was not. */
export type Seen = { at: Date; what: string } | undefined;

export type Progress = {
  request: Seen;
  accepted: Seen;
  stored: Seen;
  identified: Seen;
  /** The newest refusal of each fault, newest first. */
  refusals: Refusal[];
  /** Nothing came since the page was opened, for a while. */
  isQuiet: boolean;
};

const profiles = createClient(ProfilesService, transport);

const quietMs = 20_000;
const identifyEveryMs = 5_000;
const maxRefusals = 3;
/** Pages of a hundred profiles that are looked through for a named one, newest first. */
const maxPages = 5;
/** Refusals of this long ago still say what is wrong now. */
const recentMs = 15 * 60_000;

const nothing: Progress = {
  ...{ request: undefined, accepted: undefined, stored: undefined, identified: undefined },
  ...{ refusals: [], isQuiet: false },
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
    void before(projectId, end.signal).then(
      (found) => setProgress((last) => merge(last, found)),
      // The bar of the connection says so; the stream tells what comes from now on.
      () => {},
    );
    const stopLooking = lookForIdentify(projectId, end.signal, (seen) =>
      setProgress((last) => ({ ...last, identified: seen })),
    );
    return () => {
      end.abort();
      stop();
      close();
      stopLooking();
      window.clearTimeout(quiet);
    };
  }, [projectId]);
  return progress;
}

function withRow(last: Progress, { stage, event, time, refusal }: WatchRow): Progress {
  const at = time ? toDate(time) : new Date();
  const what = [event?.kind, event?.distinctId].filter(Boolean).join(' from ');
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
function merge(
  last: Progress,
  { stored, refusals }: { stored: Seen; refusals: Refusal[] },
): Progress {
  const next = withRefusals({ ...last, refusals: [] }, refusals);
  return {
    ...next,
    request: last.request ?? stored ?? next.request,
    accepted: last.accepted ?? stored,
    stored: last.stored ?? stored,
    refusals: newestOfEach([...last.refusals, ...next.refusals]),
  };
}

async function before(projectId: string, signal: AbortSignal) {
  const options = inProject(projectId, signal);
  const [{ events }, { refusals }] = await Promise.all([
    activity.list({ pageSize: 1 }, options),
    activity.ingestHealth({ pageSize: 1 }, options),
  ]);
  const newest = events[0];
  const stored: Seen = newest?.occurTime && {
    at: toDate(newest.occurTime),
    what: `${newest.kind} from ${newest.distinctId}`,
  };
  const oldest = Date.now() - recentMs;
  return {
    stored,
    refusals: refusals.filter(({ time }) => time && toDate(time).getTime() > oldest),
  };
}

/** Asks for a profile that Identify named, until there is one. */
function lookForIdentify(
  projectId: string,
  signal: AbortSignal,
  found: (seen: Seen) => void,
): () => void {
  const look = async (): Promise<void> => {
    if (document.visibilityState === 'hidden') return;
    let pages = 0;
    for await (const page of profiles.list({}, inProject(projectId, signal))) {
      const named = page.profiles.find(({ externalId }) => externalId !== '');
      if (named) {
        window.clearInterval(timer);
        const time = named.updateTime ?? named.createTime;
        found({ at: time ? toDate(time) : new Date(), what: named.externalId });
        return;
      }
      pages += 1;
      // Leaving the loop ends the stream.
      if (pages >= maxPages) return;
    }
  };
  const ask = (): void => void look().catch(() => {});
  const timer = window.setInterval(ask, identifyEveryMs);
  ask();
  return () => window.clearInterval(timer);
}
