// What all who run statements of a process share: the views of projects, the limits, and the places of statements that
// run. They come over POST /sql and stand on dashboards.

import type { Groups } from '../../platform/clickhouse/groups.ts';
import type { Log } from '../../platform/log.ts';
import type { RetainedFrom } from '../../platform/retained/retained-from.ts';
import { sqlAtOnce } from '../calls/turn-bounds.ts';
import { systemTimer } from '../timer.ts';
import { type BoardStatements, createBoardStatements } from './boards/board-statements.ts';
import { type StatementLimits, type StatementStore, Statements } from './run/run-statement.ts';
import { defaultTurnBounds, StatementTurns } from './run/statement-turns.ts';

export interface OpenOptions {
  /** Undefined in a process without a store. */
  clickhouse: Groups<StatementStore> | undefined;
  /** Before which moment a project has no events; never unless given. */
  retainedFrom?: RetainedFrom;
  /** Of one statement. */
  memoryBytes: number;
  log: Log;
  /** Unless the usual ones suit. */
  limits?: Partial<StatementLimits>;
  turns?: StatementTurns;
}

export interface OpenStatements {
  groups: Groups<Statements> | undefined;
  turns: StatementTurns;
  limits: StatementLimits;
  onBoards: BoardStatements;
}

const defaultLimits: Omit<StatementLimits, 'memoryBytes'> = {
  ...{ seconds: 30, rows: 1_000_000, bytes: 268_435_456 },
};

export function openStatements(options: OpenOptions): OpenStatements {
  const { clickhouse, retainedFrom, memoryBytes, log } = options;
  const limits = { ...defaultLimits, memoryBytes, ...options.limits };
  const bounds = { ...defaultTurnBounds, running: sqlAtOnce };
  const turns = options.turns ?? new StatementTurns(bounds, systemTimer);
  const groups = clickhouse?.map((store) => new Statements(store, limits, retainedFrom));
  const onBoards = createBoardStatements({ groups, turns, limits, log });
  return { groups, turns, limits, onBoards };
}
