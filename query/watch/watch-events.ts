// ActivityService.Watch: frames for one reader, from its viewer. Who may open how many streams, and for how long, is
// query/open-streams.ts's.

import { setTimeout as delay } from 'node:timers/promises';
import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import {
  type WatchRequest,
  type WatchResponse,
  WatchResponseSchema,
  type WatchRow,
  WatchRowsSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { StreamBounds } from '../open-streams.ts';
import type { LiveFeed } from './live-feed.ts';
import { Viewer } from './viewer.ts';
import { readWatchRequest } from './watch-request.ts';

/** Each viewer holds at most 6 MiB. A wall of screens may be of one project. */
export const viewerBounds: StreamBounds = {
  ...{ open: 24, openOfOwner: 16, openOfProject: 12, kept: 4 },
  stallMs: 30_000,
};

const totalsEveryMs = 1_000;
/** Rows that come together share a frame. */
const gatherMs = 10;

interface WatchOptions {
  feed: LiveFeed;
  clock: Clock;
  log: Log;
}

/** Throws invalid_argument for a request that breaks a rule, and unavailable where the broker is away. */
export async function* watchEvents(
  { feed, clock, log }: WatchOptions,
  projectId: string,
  request: WatchRequest,
): AsyncGenerator<WatchResponse> {
  const viewer = new Viewer(readWatchRequest(request), () => clock.nowMs());
  try {
    await feed.enter(projectId, viewer).catch((error: unknown) => {
      log.warn({ err: error }, 'live events cannot be watched');
      throw unavailable('live events cannot be watched now, try again');
    });
    yield totalsFrame(viewer, feed.lagMs(projectId));
    let totalsAtMs = performance.now() + totalsEveryMs;
    while (!feed.isClosed) {
      await viewer.waiting(Math.max(0, totalsAtMs - performance.now()));
      await delay(gatherMs);
      const rows = viewer.take();
      if (rows.length > 0) yield rowsFrame(rows);
      if (performance.now() < totalsAtMs) continue;
      yield totalsFrame(viewer, feed.lagMs(projectId));
      totalsAtMs = Math.max(totalsAtMs, performance.now() - totalsEveryMs) + totalsEveryMs;
    }
    throw unavailable('this process ends, open the stream again');
  } finally {
    feed.leave(projectId, viewer);
  }
}

function rowsFrame(rows: WatchRow[]): WatchResponse {
  const value = create(WatchRowsSchema);
  value.rows = rows;
  const frame = create(WatchResponseSchema);
  frame.frame = { case: 'rows', value };
  return frame;
}

function totalsFrame(viewer: Viewer, lagMs: number | undefined): WatchResponse {
  const frame = create(WatchResponseSchema);
  frame.frame = { case: 'totals', value: viewer.takeTotals(lagMs) };
  return frame;
}

function unavailable(message: string): ConnectError {
  return new ConnectError(message, Code.Unavailable);
}
