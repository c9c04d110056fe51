// The project's events as they come, over one stream for all tabs of a browser: HTTP/1.1 gives an origin six
// connections. The tab that holds the lock reads the stream and hands each frame on; when it closes, another follows.

import { fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import {
  ActivityService,
  type WatchRequestSchema,
  type WatchResponse,
  WatchResponseSchema,
  type WatchRow,
  type WatchTotals,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { hear, inProject, isReachable, loseTouch, transport } from '../client.ts';
import { withTotals } from './last-minute.ts';
import { afterSilence, readWhileHeard } from './silence.ts';
import { takeTurns } from './turns.ts';

export const activity = createClient(ActivityService, transport);

export type LiveFeed = {
  /** The last second's counts and lag; undefined until the first. */
  totals: Signal<WatchTotals | undefined>;
  /** The totals of the last minute, so that a page that opens has its figures; none while the stream is away. */
  minute: Signal<readonly WatchTotals[]>;
  /** False while the stream is away, or the service is known not to answer: what is shown may be old. */
  isLive: ReadonlySignal<boolean>;
  /** The newest rows, newest last, so that a page that opens is not empty. */
  recent: WatchRow[];
  /** Calls for each frame's rows; the answer ends it. */
  onRows: (listener: (rows: WatchRow[]) => void) => () => void;
  /** Calls once a second with the totals; the answer ends it. */
  onTotals: (listener: (totals: WatchTotals) => void) => () => void;
};

type OpenFeed = LiveFeed & {
  users: number;
  take: (frame: WatchResponse) => void;
  /** Nothing more is heard of the stream. */
  lose: () => void;
  end: () => void;
};

const maxRecent = 200;
const firstWaitMs = 500;
const longestWaitMs = 10_000;
/** Totals come each second. */
const silentMs = 5_000;
/** So long may nothing be heard of the tab that reads the stream. */
const patienceMs = 10_000;
/** What it posts beside frames: it lives, whether or not the service answers it. */
const turnSign = 'turn';

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
  const silence = afterSilence(silentMs, feed.lose);
  end.signal.addEventListener('abort', silence.end);
  let hearTurn = (): void => {};
  const take = (frame: WatchResponse): void => {
    silence.hear();
    hearTurn();
    hear();
    feed.take(frame);
  };
  channel.onmessage = ({ data }: MessageEvent<Uint8Array | typeof turnSign>) => {
    if (data === turnSign) hearTurn();
    else take(fromBinary(WatchResponseSchema, data));
  };
  const work = (turn: AbortSignal): Promise<void> =>
    follow(
      projectId,
      {},
      turn,
      (frame) => {
        take(frame);
        channel.postMessage(toBinary(WatchResponseSchema, frame));
      },
      feed.lose,
    );
  // Without a secure context there are no locks: each tab then has a stream of its own.
  const { locks } = navigator;
  if (!locks) void work(end.signal);
  else
    hearTurn = takeTurns({
      request: (options, turn) => locks.request(`millrace-live-${projectId}`, options, turn),
      end: end.signal,
      patienceMs,
      isSeen: () => document.visibilityState === 'visible',
      work,
      tell: () => channel.postMessage(turnSign),
    });
  feeds.set(projectId, feed);
  return feed;
}

function makeFeed(end: () => void): OpenFeed {
  const rowListeners = new Set<(rows: WatchRow[]) => void>();
  const totalListeners = new Set<(totals: WatchTotals) => void>();
  const recent: WatchRow[] = [];
  const totals = signal<WatchTotals | undefined>(undefined);
  const minute = signal<readonly WatchTotals[]>([]);
  const isHeard = signal(false);
  return {
    users: 0,
    totals,
    minute,
    isLive: computed(() => isHeard.value && isReachable.value),
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
      isHeard.value = true;
      if (frame.case === 'totals') {
        totals.value = frame.value;
        minute.value = withTotals(minute.peek(), frame.value);
        if (frame.value.time) aheadMs = timestampMs(frame.value.time) - Date.now();
        for (const listener of totalListeners) listener(frame.value);
      } else if (frame.case === 'rows') {
        recent.push(...frame.value.rows);
        recent.splice(0, Math.max(0, recent.length - maxRecent));
        for (const listener of rowListeners) listener(frame.value.rows);
      }
    },
    lose: () => {
      isHeard.value = false;
      // What came before a gap is no part of the minute after it.
      minute.value = [];
    },
    end,
  };
}

let aheadMs = 0;

/** The time of the service as its streams tell it: a device's clock may be minutes off. */
export function serviceNowMs(): number {
  return Date.now() + aheadMs;
}

/**
 * Reads a stream until `signal` ends it, and begins anew where it breaks or falls silent: after a while, longer each
 * time. A page with conditions of its own has a stream of its own; conditions that the service refuses end it, by an
 * exception. `lose` hears of each break.
 */
export async function follow(
  projectId: string,
  request: MessageInitShape<typeof WatchRequestSchema>,
  signal: AbortSignal,
  take: (frame: WatchResponse) => void,
  lose: () => void = () => {},
): Promise<void> {
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    try {
      const open = (end: AbortSignal) => activity.watch(request, inProject(projectId, end));
      await readWhileHeard(open, signal, silentMs, (frame) => {
        waitMs = firstWaitMs;
        take(frame);
      });
    } catch (cause) {
      // A broken or silent stream, an expired token or a service that starts: the next round answers all of them.
      if (ConnectError.from(cause).code === Code.InvalidArgument) throw cause;
    }
    if (signal.aborted) return;
    loseTouch();
    lose();
    await new Promise((done) => window.setTimeout(done, waitMs));
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
}
