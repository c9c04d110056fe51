// What the live page knows, drawn at most once for each frame of the screen, however many events come.

import { durationMs } from '@bufbuild/protobuf/wkt';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import type { WatchRow } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { totalsMs } from '../feed/last-minute.ts';
import { follow, openFeed } from '../feed/live-feed.ts';
import { type LiveRow, LiveRows } from './live-rows.ts';

export type LiveConditions = { kinds: string[]; filters: PropertyFilter[] };

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
    const { feed, end: close } = openFeed(projectId);
    const stopTotals = feed.onTotals((totals) => {
      const isAllCounted = totals.lag !== undefined && durationMs(totals.lag) < 1;
      if (isAllCounted && model.giveUp(totalsMs(totals))) frame ||= requestAnimationFrame(draw);
    });
    end.signal.addEventListener('abort', () => {
      stopTotals();
      close();
    });
    if (kinds.length + filters.length > 0) {
      const stream = follow(projectId, { kinds, filters }, end.signal, ({ frame: one }) => {
        if (one.case === 'rows') take(one.value.rows);
      });
      stream.catch(setFault);
    } else {
      take(feed.recent);
      end.signal.addEventListener('abort', feed.onRows(take));
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
