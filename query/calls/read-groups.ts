// What the reads of a project share at its group of servers: turns, the watch whether the store is there, and kept
// answers. A group that is away, or starved, so costs the projects of the others nothing.

import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { EngineShare } from '../../platform/clickhouse/engine-share.ts';
import type { Groups } from '../../platform/clickhouse/groups.ts';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { retainedRows } from '../../platform/retained/row-filters.ts';
import {
  createRunQuestion,
  type QuestionOptions,
  type RunQuestion,
} from '../insights/query-insight.ts';
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

/** What each group has of its own. */
type OfGroup = 'clickhouse' | 'turns' | 'insightTurns' | 'memoryBytes';

/** The others are those of questions. */
export interface ReadGroupOptions extends Omit<QuestionOptions, OfGroup> {
  clickhouse: Groups<ReadStore>;
  /** A read asks it after so long without a row; after half a second unless given. */
  storeSilenceMs?: number;
  /** The memory of one statement of a question; the server's own bound unless given. */
  insightMemoryBytes?: number;
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  /** Whose a project is: owners leave turns and streams to each other. Each project has its own unless given. */
  ownerOf?: (projectId: string) => string;
  /** The processes that read from the engine; one unless given. */
  processes?: number;
  /** Made for each group unless given. */
  turns?: Turns;
  insightTurns?: Turns;
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
  return {
    clickhouse,
    readerOf: (projectId) => retainedRows(clickhouse, () => retainedFrom?.(projectId)),
    turns,
    isStarved: () => share.isStarved(),
    runQuestion: createRunQuestion({
      ...{ ...options, clickhouse, turns, insightTurns },
      ...(memoryBytes !== undefined && { memoryBytes }),
    }),
  };
}
