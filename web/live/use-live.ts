// What the live page knows, drawn at most once for each frame of the screen, however many events come.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { WatchRow, WatchTotals } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { follow, openFeed } from '../feed/live-feed.ts';
import { type LiveRow, LiveRows } from './live-rows.ts';
import { type Minute, minuteOf, seconds } from './minute.ts';

export type LiveConditions = { kinds: string[]; filters: PropertyFilter[] };

/** The project's totals of the last minute, from the stream that all tabs share; undefined while it is not live. */
export function useMinute(projectId: string): Minute | undefined {
  const [totals, setTotals] = useState<WatchTotals[]>([]);
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    const { feed, end } = openFeed(projectId);
    const stop = feed.onTotals((next) => setTotals((last) => [...last, next].slice(-seconds)));
    const stopLive = feed.isLive.subscribe((now) => {
      setLive(now);
      // What came before a gap is no part of the minute after it.
      if (!now) setTotals([]);
    });
    return () => {
      stop();
      stopLive();
      end();
    };
  }, [projectId]);
  return minuteOf(totals, isLive);
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
