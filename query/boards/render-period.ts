// A dashboard with the answers of its tiles for a period that is over, for the service itself: each tile with the
// period before it, as members see it and as strangers do.

import { create } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { ReadDashboard } from '../../platform/dashboards/dashboard-reader.ts';
import type {
  AnsweredStatement,
  AskedPeriod,
  RenderedPeriod,
} from '../../platform/reports/rendered-period.ts';
import {
  RenderResponseSchema,
  type Tile,
  type TileResult,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type SharedTile,
  SharedTileSchema,
} from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { type AnswerDeps, answerTiles } from './answer-tiles.ts';
import { sharedTiles } from './shared/shared-tiles.ts';

interface PeriodDeps extends AnswerDeps {
  readDashboard: ReadDashboard;
  /** Whether a project has events of bots: they are left out, as on the pages. */
  hasBots: (projectId: string) => Promise<boolean>;
}

export async function renderPeriod(
  deps: PeriodDeps,
  projectId: string,
  dashboardId: string,
  { fromMs, toMs, previousFromMs, granularity, timezone, weekStart }: AskedPeriod,
): Promise<RenderedPeriod | undefined> {
  const dashboard = await deps.readDashboard(projectId, dashboardId);
  if (dashboard === undefined) return undefined;
  const { displayName, filters, includeCookieless } = dashboard;
  const tiles = dashboard.tiles.map((tile) => ({ ...tile, compareToPrevious: true }));
  const results = await answerTiles(deps, {
    ...{ projectId, tiles, filters, includeCookieless },
    leavesOutBots: await deps.hasBots(projectId),
    time: {
      range: { fromMs, toMs },
      previous: { fromMs: previousFromMs, toMs: fromMs },
      granularity,
      ...{ timezone, weekStart },
    },
  });
  const byTile = new Map(results.map((result) => [result.tileId, result]));
  return {
    displayName,
    tiles: tiles.map((tile) => wholeTile(tile, byTile.get(tile.id))),
    statements: statementsOf(tiles, byTile),
    tilesForStrangers: sharedTiles(create(RenderResponseSchema, { dashboard, results })),
    completeUntilMs: completeUntil(results),
  };
}

/** A tile with its question and answers as they are. */
function wholeTile(tile: Tile, result: TileResult | undefined): SharedTile {
  const { id, title, x = 0, y = 0, w, h, content, drawing } = tile;
  const shown = create(SharedTileSchema, { id, title, x, y, w, h, drawing });
  const { outcome, previous } = result ?? {};
  switch (content.case) {
    case 'markdown':
      shown.content = content;
      return shown;
    case 'insight':
      if (result === undefined) return shown;
      shown.question = content.value;
      if (previous !== undefined) shown.previous = previous;
      if (outcome?.case === 'insight' || outcome?.case === 'error') shown.content = outcome;
      return shown;
    case 'statement':
      shown.membersOnly = true;
      if (outcome?.case === 'error') shown.content = outcome;
      return shown;
    case undefined:
      return shown;
    default:
      return content satisfies never;
  }
}

/** Answers of statements by their tiles, beside what a share could hold. */
function statementsOf(
  tiles: readonly Tile[],
  results: ReadonlyMap<string, TileResult>,
): Map<string, AnsweredStatement> {
  const answered = new Map<string, AnsweredStatement>();
  for (const { id, content } of tiles) {
    const outcome = results.get(id)?.outcome;
    if (content.case !== 'statement' || outcome?.case !== 'statement') continue;
    answered.set(id, { view: content.value.view, answer: outcome.value });
  }
  return answered;
}

function completeUntil(results: readonly TileResult[]): number {
  const times = results.flatMap(({ outcome }) => {
    if (outcome.case !== 'insight') return [];
    const { completeUntil: until } = outcome.value;
    return [until === undefined ? 0 : timestampMs(until)];
  });
  return Math.min(Number.MAX_SAFE_INTEGER, ...times);
}
