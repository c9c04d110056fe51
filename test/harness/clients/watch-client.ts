// A reader of ActivityService.Watch for tests: keeps what came, and waits for what is to come.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import {
  ActivityService,
  type WatchRequestSchema,
  type WatchRow,
  WatchStage,
  type WatchTotals,
} from '../../../proto/gen/shared/activity/v1/activity_pb.js';

export interface Watching {
  readonly rows: WatchRow[];
  /** When each of `rows` came, in milliseconds since the epoch. */
  readonly cameMs: number[];
  readonly totals: WatchTotals[];
  /** The stages of the event, in the order of their rows. */
  stagesOf(eventId: string): string[];
  /** Resolves once the condition holds; rejects where the stream ends before, with its error. */
  until(condition: () => boolean): Promise<void>;
  /** Resolves with the error that ended the stream. */
  readonly ended: Promise<unknown>;
  close(): void;
}

/** Resolves once the stream misses no later event. */
export async function watch(
  baseUrl: string,
  headers: Record<string, string>,
  request: MessageInitShape<typeof WatchRequestSchema> = {},
): Promise<Watching> {
  const transport = createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: true });
  const stop = new AbortController();
  const frames = createClient(ActivityService, transport).watch(request, {
    headers,
    signal: stop.signal,
  });
  const rows: WatchRow[] = [];
  const cameMs: number[] = [];
  const totals: WatchTotals[] = [];
  const waiters = new Set<() => void>();
  const read = async (): Promise<unknown> => {
    try {
      for await (const { frame } of frames) {
        if (frame.case === 'rows') {
          rows.push(...frame.value.rows);
          cameMs.push(...frame.value.rows.map(() => Date.now()));
        }
        if (frame.case === 'totals') totals.push(frame.value);
        for (const look of waiters) look();
      }
      return new Error('the stream ended');
    } catch (error) {
      return error;
    }
  };
  const ended = read();
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (!condition()) return;
        waiters.delete(look);
        resolve();
      };
      waiters.add(look);
      look();
      void ended.then(reject);
    });
  await until(() => totals.length > 0);
  return {
    ...{ rows, cameMs, totals, until, ended },
    stagesOf: (eventId) =>
      rows.filter(({ event }) => event?.eventId === eventId).map(({ stage }) => WatchStage[stage]),
    close: () => stop.abort(),
  };
}
