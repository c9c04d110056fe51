// What the live page knows, drawn at most once for each frame of the screen, however many events come.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { WatchRow, WatchTotals } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { follow, openFeed } from '../shell/live-feed.ts';
import { type LiveRow, LiveRows } from './live-rows.ts';

export type LiveConditions = { kinds: string[]; filters: PropertyFilter[] };

export type Minute = {
  /** Events that arrived in each of the last sixty seconds, oldest first. */
  arriving: number[];
  /** Of the same minute. */
  refused: number;
  dead: number;
  /** Events of the last second that came too fast to be shown. */
  notShown: number;
};

const seconds = 60;

/** The project's totals of the last minute, from the stream that all tabs share. */
export function useMinute(projectId: string): Minute {
  const [minute, setMinute] = useState<WatchTotals[]>([]);
  useEffect(() => {
    const { feed, end } = openFeed(projectId);
    const stop = feed.onTotals((totals) => setMinute((last) => [...last, totals].slice(-seconds)));
    return () => {
      stop();
      end();
    };
  }, [projectId]);
  const sum = (pick: (totals: WatchTotals) => bigint): number =>
    minute.reduce((total, totals) => total + Number(pick(totals)), 0);
  const arriving = minute.map((totals) => Number(totals.arriving));
  return {
    arriving: [...Array.from({ length: seconds - arriving.length }, () => 0), ...arriving],
    refused: sum(({ refused }) => refused),
    dead: sum(({ dead }) => dead),
    notShown: Number(minute.at(-1)?.sampledOut ?? 0) + Number(minute.at(-1)?.lost ?? 0),
  };
}

/**
 * The newest rows. Without conditions they are the shared stream's, with them those of a stream of the page's own.
 * `onFresh` hears of events that were not known before, also while the view is paused.
 */
export function useLiveRows(
  projectId: string,
  { kinds, filters }: LiveConditions,
  isPaused: boolean,
  onFresh: (rows: readonly LiveRow[]) => void,
): { rows: LiveRow[]; waiting: number; fault: unknown } {
  const conditions = JSON.stringify([kinds, filters]);
  const model = useMemo(() => new LiveRows(), [projectId, conditions]);
  const [rows, setRows] = useState<LiveRow[]>([]);
  const [waiting, setWaiting] = useState(0);
  const [fault, setFault] = useState<unknown>();
  const paused = useRef(isPaused);
  paused.current = isPaused;
  useEffect(() => {
    const end = new AbortController();
    let frame = 0;
    let unseen = 0;
    const draw = (): void => {
      frame = 0;
      if (paused.current) setWaiting(unseen);
      else {
        unseen = 0;
        setWaiting(0);
        setRows(model.newestFirst());
      }
    };
    const take = (heard: readonly WatchRow[]): void => {
      const fresh = model.take(heard);
      unseen += fresh.length;
      onFresh(fresh);
      // A hidden page has no frames: what came meanwhile is drawn once, when it is seen again.
      frame ||= window.requestAnimationFrame(draw);
    };
    setFault(undefined);
    setRows([]);
    if (kinds.length + filters.length > 0) {
      const stream = follow(projectId, { kinds, filters }, end.signal, ({ frame: one }) => {
        if (one.case === 'rows') take(one.value.rows);
      });
      stream.catch(setFault);
    } else {
      const { feed, end: close } = openFeed(projectId);
      take(feed.recent);
      const stop = feed.onRows(take);
      end.signal.addEventListener('abort', () => {
        stop();
        close();
      });
    }
    return () => {
      end.abort();
      window.cancelAnimationFrame(frame);
    };
  }, [model]);
  useEffect(() => {
    if (!isPaused) {
      setRows(model.newestFirst());
      setWaiting(0);
    }
  }, [isPaused]);
  return { rows, waiting, fault };
}
