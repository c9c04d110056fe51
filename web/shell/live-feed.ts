// The project's events as they come, over one stream for all tabs of a browser: HTTP/1.1 gives an origin six
// connections. The tab that holds the lock reads the stream and hands each frame on; when it closes, another follows.

import { fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { type Signal, signal } from '@preact/signals';
import {
  ActivityService,
  type WatchRequestSchema,
  type WatchResponse,
  WatchResponseSchema,
  type WatchRow,
  type WatchTotals,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { inProject, transport } from '../client.ts';

export const activity = createClient(ActivityService, transport);

export type LiveFeed = {
  /** The last second's counts and lag; undefined until the first. */
  totals: Signal<WatchTotals | undefined>;
  /** False while the stream is away: what is shown may be old. */
  isLive: Signal<boolean>;
  /** The newest rows, newest last, so that a page that opens is not empty. */
  recent: WatchRow[];
  /** Calls for each frame's rows; the answer ends it. */
  onRows: (listener: (rows: WatchRow[]) => void) => () => void;
  /** Calls once a second with the totals; the answer ends it. */
  onTotals: (listener: (totals: WatchTotals) => void) => () => void;
};

type OpenFeed = LiveFeed & { users: number; take: (frame: WatchResponse) => void; end: () => void };

const maxRecent = 200;
const firstWaitMs = 500;
const longestWaitMs = 10_000;
/** Totals come each second: a stream that is silent for so long is dead, whatever the connection says. */
const silentMs = 5_000;

const feeds = new Map<string, OpenFeed>();

/** The feed of a project, opened by its first user; `end` lets go of it. */
export function openFeed(projectId: string): { feed: LiveFeed; end: () => void } {
  const feed = feeds.get(projectId) ?? begin(projectId);
  feed.users += 1;
  return {
    feed,
    end: () => {
      feed.users -= 1;
      if (feed.users > 0) return;
      feeds.delete(projectId);
      feed.end();
    },
  };
}

function begin(projectId: string): OpenFeed {
  const end = new AbortController();
  const channel = new BroadcastChannel(`millrace-live-${projectId}`);
  const feed = makeFeed(() => {
    end.abort();
    channel.close();
  });
  let lastFrame = Date.now();
  const take = (frame: WatchResponse): void => {
    lastFrame = Date.now();
    feed.isLive.value = true;
    feed.take(frame);
  };
  channel.onmessage = ({ data }: MessageEvent<Uint8Array>) =>
    take(fromBinary(WatchResponseSchema, data));
  const watchdog = window.setInterval(() => {
    if (Date.now() - lastFrame > silentMs) feed.isLive.value = false;
  }, 1000);
  end.signal.addEventListener('abort', () => window.clearInterval(watchdog));
  void whileLeader(`millrace-live-${projectId}`, end.signal, () =>
    follow(projectId, {}, end.signal, (frame) => {
      take(frame);
      channel.postMessage(toBinary(WatchResponseSchema, frame));
    }),
  );
  feeds.set(projectId, feed);
  return feed;
}

function makeFeed(end: () => void): OpenFeed {
  const rowListeners = new Set<(rows: WatchRow[]) => void>();
  const totalListeners = new Set<(totals: WatchTotals) => void>();
  const recent: WatchRow[] = [];
  const totals = signal<WatchTotals | undefined>(undefined);
  return {
    users: 0,
    totals,
    isLive: signal(false),
    recent,
    onRows: (listener) => {
      rowListeners.add(listener);
      return () => rowListeners.delete(listener);
    },
    onTotals: (listener) => {
      totalListeners.add(listener);
      return () => totalListeners.delete(listener);
    },
    take: ({ frame }) => {
      if (frame.case === 'totals') {
        totals.value = frame.value;
        for (const listener of totalListeners) listener(frame.value);
      } else if (frame.case === 'rows') {
        recent.push(...frame.value.rows);
        recent.splice(0, Math.max(0, recent.length - maxRecent));
        for (const listener of rowListeners) listener(frame.value.rows);
      }
    },
    end,
  };
}

async function whileLeader(
  name: string,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  // Without a secure context there are no locks: each tab then has a stream of its own.
  if (!navigator.locks) return work();
  try {
    await navigator.locks.request(name, { signal }, work);
  } catch {
    // The feed was let go before its turn came.
  }
}

/**
 * Reads a stream until `signal` ends it, and begins anew where it breaks: after a while, longer each time. A page with
 * conditions of its own has a stream of its own; conditions that the service refuses end it, by an exception.
 */
export async function follow(
  projectId: string,
  request: MessageInitShape<typeof WatchRequestSchema>,
  signal: AbortSignal,
  take: (frame: WatchResponse) => void,
): Promise<void> {
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    try {
      for await (const frame of activity.watch(request, inProject(projectId, signal))) {
        waitMs = firstWaitMs;
        take(frame);
      }
    } catch (cause) {
      // A broken stream, an expired token or a service that starts: all are answered by the next round.
      if (ConnectError.from(cause).code === Code.InvalidArgument) throw cause;
    }
    await new Promise((done) => window.setTimeout(done, waitMs));
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
}
