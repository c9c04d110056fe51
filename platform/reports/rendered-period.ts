// How query/ renders a board for a report: the question and the answer that both sides know.

import type {
  StatementAnswer,
  StatementView,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { SharedTile } from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import type { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Calendar } from '../zones/weeks.ts';

/** Half-open, in ms since the epoch; the period before ends where the period begins. */
export interface AskedPeriod extends Calendar {
  fromMs: number;
  toMs: number;
  previousFromMs: number;
  granularity: Granularity;
}

/** What a tile with a statement shows to members. */
export interface AnsweredStatement {
  view: StatementView;
  answer: StatementAnswer;
}

export interface RenderedPeriod {
  displayName: string;
  tiles: SharedTile[];
  /** By the ids of their tiles, for members alone. */
  statements: ReadonlyMap<string, AnsweredStatement>;
  /** As a shared dashboard shows them. */
  tilesForStrangers: SharedTile[];
  /** Every event that was accepted before is counted in all answers; 0 where one does not say. */
  completeUntilMs: number;
}

/**
 * Undefined where the project has no such dashboard. A tile that fails has an error, and the others their answers.
 * Takes a minute at most.
 */
export type RenderPeriod = (
  projectId: string,
  dashboardId: string,
  period: AskedPeriod,
) => Promise<RenderedPeriod | undefined>;
