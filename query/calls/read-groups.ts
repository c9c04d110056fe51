// What the reads of a project share at its group of servers: turns, the watch whether the store is there, and kept
// answers. A group that is away, or starved, so costs the projects of the others nothing.

import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { EngineShare } from '../../platform/clickhouse/engine-share.ts';
import type { Groups } from '../../platform/clickhouse/groups.ts';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { RetainedFrom } from '../../platform/retained/retained-from.ts';
import { retainedRows } from '../../platform/retained/row-filters.ts';
import type { WeekStartOf } from '../../platform/zones/weeks.ts';
import { createRunQuestion, type RunQuestion } from '../insights/query-insight.ts';
import type { CompleteUntil } from '../insights/run/complete-until.ts';
import type { FindSegment } from '../segments/named-segments.ts';
import { defaultSilenceMs, StoreWatch } from '../store-watch.ts';
import { systemTimer } from '../timer.ts';
import { Turns } from '../turns.ts';
import { RecentUse } from './recent-use.ts';
import { insightTurnBounds, turnBounds } from './turn-bounds.ts';

/** Its `isReady` says whether the store answers at all, in bounded time, and never rejects. */
export type ReadStore = Pick<DatabaseClient, 'select' | 'isReady'>;

export interface ReadGroup {
  clickhouse: RowReader;
  /** Reads what the project keeps alone. */
  readerOf(projectId: string): RowReader;
  turns: Turns;
  /** Whether the store's statements hardly get the processor. */
  isStarved: () => boolean;
  runQuestion: RunQuestion;
}

export interface ReadGroupOptions {
  clickhouse: Groups<ReadStore>;
  /** A read asks it after so long without a row; after half a second unless given. */
  storeSilenceMs?: number;
  clock: Clock;
  completeUntilMs: CompleteUntil;
  /** A clock that never goes back, for what is kept of questions; the process's unless given. */
  nowMs?: () => number;
  /** The memory of one statement of a question; the server's own bound unless given. */
  insightMemoryBytes?: number;
  /** The segments of a project; none unless given. */
  findSegment?: FindSegment;
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  /** The day that weeks begin on in a project's questions; Monday unless given. */
  weekStartOf?: WeekStartOf;
  /** Whose a project is: owners leave turns and streams to each other. Each project has its own unless given. */
  ownerOf?: (projectId: string) => string;
  /** Before which moment a project has no events; each keeps them for ever unless given. */
  retainedFrom?: RetainedFrom;
  /** The processes that read from the engine; one unless given. */
  processes?: number;
  /** Made for each group unless given. */
  turns?: Turns;
  insightTurns?: Turns;
  log?: Log;
  /** The only sources of questions besides rows of events: tests alone leave some out. */
  ladder?: readonly string[];
}

export function openReadGroups(options: ReadGroupOptions): Groups<ReadGroup> {
  const { clickhouse } = options;
  return clickhouse.map((store) => openReadGroup(store, options));
}

function openReadGroup(store: ReadStore, options: ReadGroupOptions): ReadGroup {
  const { processes = 1, ownerOf, insightMemoryBytes: memoryBytes, nowMs, retainedFrom } = options;
  const share = new EngineShare({
    clickhouse: store,
    nowMs: nowMs ?? (() => performance.now()),
  });
  const watch = new StoreWatch({
    answers: () => store.isReady(),
    timer: systemTimer,
    silenceMs: options.storeSilenceMs ?? defaultSilenceMs,
    onSilence: () => void share.look(),
  });
  const clickhouse = watch.reader(store);
  const owners = { use: new RecentUse(), ...(ownerOf && { ownerOf }) };
  const turns = options.turns ?? new Turns(turnBounds(processes), systemTimer, owners);
  const insightTurns =
    options.insightTurns ?? new Turns(insightTurnBounds(processes), systemTimer, owners);
  const { completeUntilMs, clock, timezoneOf, log } = options;
  return {
    clickhouse,
    readerOf: (projectId) => retainedRows(clickhouse, () => retainedFrom?.(projectId)),
    turns,
    isStarved: () => share.isStarved(),
    runQuestion: createRunQuestion({
      ...{ clickhouse, completeUntilMs, clock, turns, insightTurns, timezoneOf },
      ...(options.weekStartOf && { weekStartOf: options.weekStartOf }),
      ...(options.findSegment && { findSegment: options.findSegment }),
      ...(memoryBytes !== undefined && { memoryBytes }),
      ...(options.ladder && { ladder: options.ladder }),
      ...(nowMs && { nowMs }),
      ...(retainedFrom && { retainedFrom }),
      ...(log && { log }),
    }),
  };
}
