// What the writer of a shard's events knows of events that earlier writers stored: their ids and their sessions. Both
// are loaded while the writer already works. Until then it asks the tables, so its answers do not depend on how far the
// loading is.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Clock } from '../platform/clock.ts';
import { dayMs } from '../platform/clock.ts';
import { sessionInactivityMs } from '../platform/limits.ts';
import type { Log } from '../platform/log.ts';
import type { EventKeys } from './build/event-key.ts';
import { DuplicateCheck } from './dedup/duplicate-check.ts';
import { storeIds } from './dedup/event-ids.ts';
import { SeenLoader } from './dedup/seen-loader.ts';
import { minSeenBytes, SeenSet } from './dedup/seen-set.ts';
import { findSessions, loadSessions, type StoredRows } from './sessions/session-store.ts';
import { defaultMaxSessions, Sessions } from './sessions/sessions.ts';
import type { Ledger } from './write/ledger.ts';

/** The part of the sessions in memory that is loaded; older ones are looked up where an event may belong to them. */
const loadedShare = 0.5;

interface StoredStateOptions {
  clickhouse: Pick<ClickHouseClient, 'query' | 'exec' | 'command'>;
  shard: number;
  eventKeys: EventKeys;
  seenMaxBytes: number;
  /** Sessions in memory; 200,000 by default. */
  maxSessions?: number;
  clock: Clock;
  log: Log;
  ledger: Pick<Ledger, 'hwm' | 'ahead' | 'streamCreated'>;
  /** Every message up to this sequence is done, or is in a batch that was taken. */
  completeTo(): number;
  /** Whether the ledger is of this stream. Without it nothing says which rows count: all rows in the table do. */
  isLedgerCurrent: boolean;
  /** Repeats a call until it is answered; rejects once `signal` is aborted. */
  untilAnswered<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Ends every wait. */
  abort: AbortSignal;
}

export interface StoredState {
  seen: SeenSet;
  duplicateCheck: DuplicateCheck;
  sessions: Sessions;
  /** Settles once everything is loaded; rejects where `close` came first. */
  loaded: Promise<void>;
  /** Ends the loading. */
  close(): Promise<void>;
}

/** Begins to load and returns at once. Called before the writer's first batch. */
export function openStoredState(options: StoredStateOptions): StoredState {
  const { clickhouse, shard, eventKeys, clock, log, ledger, isLedgerCurrent } = options;
  const closed = new AbortController();
  const signal = AbortSignal.any([options.abort, closed.signal]);
  const untilAnswered = <T>(call: () => Promise<T>) => options.untilAnswered(call, signal);
  const streamCreatedMs = Date.parse(ledger.streamCreated);
  const source = { shard, streamCreatedMs };
  const seen = new SeenSet(Math.max(options.seenMaxBytes, minSeenBytes));
  const loader = new SeenLoader({
    ...{ clickhouse, seen, eventKeys, source, untilAnswered, signal },
    hwm: isLedgerCurrent ? ledger.hwm : undefined,
    nowMs: clock.nowMs(),
  });
  const storedRows = (): StoredRows => ({
    ...source,
    hwm: isLedgerCurrent ? ledger.hwm : Number.MAX_SAFE_INTEGER,
    ahead: isLedgerCurrent ? ledger.ahead : [],
  });
  const sessions = new Sessions({
    maxSessions: options.maxSessions ?? defaultMaxSessions,
    find: (lookUp) => untilAnswered(() => findSessions(clickhouse, storedRows(), lookUp)),
  });
  const idsLoaded = loader.run();
  const loaded = Promise.all([
    idsLoaded.then((ids) => log.info({ shard, ids }, 'the ids of earlier events are loaded')),
    loadOpenSessions(options, sessions, storedRows(), untilAnswered),
  ]).then(() => {});
  loaded.catch((error) => {
    if (!signal.aborted) log.error({ shard, err: error }, 'what is stored could not be loaded');
  });
  return {
    ...{ seen, sessions, loaded },
    duplicateCheck: new DuplicateCheck({
      ...{ seen, clock, loaded: idsLoaded },
      findStored: (ids, rows) => loader.findStored(ids, rows),
      completeTo: options.completeTo,
      storeIds: (span, reach) => untilAnswered(() => storeIds(clickhouse, source, span, reach)),
    }),
    async close() {
      closed.abort(new Error('the writer has ended'));
      await loaded.catch(() => {});
    },
  };
}

/** Loads the sessions that an event of today or yesterday may continue. */
async function loadOpenSessions(
  { clickhouse, clock, maxSessions = defaultMaxSessions }: StoredStateOptions,
  sessions: Sessions,
  rows: StoredRows,
  untilAnswered: <T>(call: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const yesterdayMs = (Math.floor(clock.nowMs() / dayMs) - 1) * dayMs;
  const fromMs = yesterdayMs - 2 * sessionInactivityMs;
  const most = Math.floor(maxSessions * loadedShare);
  const found = await untilAnswered(() => loadSessions(clickhouse, rows, fromMs, most));
  sessions.load(found.sessions, found.completeFromMs);
}
