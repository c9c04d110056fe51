// The tiles of a dashboard as strangers see them: questions without their filters, and rows of persons without anything
// that names one.

import { create } from '@bufbuild/protobuf';
import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type {
  RenderResponse as BoardResponse,
  Tile,
  TileResult,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type SharedTile,
  SharedTileSchema,
} from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import {
  TopKQuery_Dimension as Dimension,
  type InsightQuerySpec,
  type QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

export function sharedTiles({ dashboard, results }: BoardResponse): SharedTile[] {
  const byTile = new Map(results.map((result) => [result.tileId, result]));
  return (dashboard?.tiles ?? []).map((tile) => sharedTile(tile, byTile.get(tile.id)));
}

function sharedTile(tile: Tile, result: TileResult | undefined): SharedTile {
  const { id, title, x = 0, y = 0, w, h, content } = tile;
  const shown = create(SharedTileSchema, { id, title, x, y, w, h });
  if (content.case === 'markdown') shown.content = content;
  if (content.case !== 'insight' || result === undefined) return shown;
  const spec = content.value;
  shown.question = withoutFilters(spec);
  if (result.previous !== undefined) shown.previous = withoutPersons(spec, result.previous);
  switch (result.outcome.case) {
    case 'insight':
      shown.content = { case: 'insight', value: withoutPersons(spec, result.outcome.value) };
      return shown;
    case 'error': {
      // The message may repeat what a filter compares with.
      const error = { ...result.outcome.value, message: 'this tile cannot be shown now' };
      shown.content = { case: 'error', value: error };
      return shown;
    }
    case undefined:
      return shown;
    default:
      return result.outcome satisfies never;
  }
}

/** What is asked, so that a page knows what to draw; what events are compared with may be nobody else's business. */
function withoutFilters(spec: InsightQuerySpec): InsightQuerySpec {
  return {
    ...spec,
    filterGroups: [],
    filterGroupsOperator: LogicalOperator.UNSPECIFIED,
    events: spec.events.map((series) => ({ ...series, ...scopeOf('event', series.event) })),
    ...(spec.session && {
      session: { ...spec.session, ...scopeOf('scope', spec.session.scope) },
    }),
    ...(spec.userFlow && {
      userFlow: { ...spec.userFlow, ...scopeOf('scope', spec.userFlow.scope) },
    }),
    ...(spec.topK && { topK: { ...spec.topK, ...scopeOf('scope', spec.topK.scope) } }),
  };
}

type Scope = InsightQuerySpec['events'][number]['event'];

function scopeOf<N extends string>(name: N, scope: Scope) {
  if (scope === undefined) return {};
  return { [name]: { ...scope, filters: [] } };
}

function withoutPersons({ topK }: InsightQuerySpec, response: QueryResponse): QueryResponse {
  if (topK?.dimension !== Dimension.USER || response.result.case !== 'topK') return response;
  const rows = response.result.value.rows.map(({ profile: _, dimensionValue: __, ...row }) => row);
  return { ...response, result: { case: 'topK', value: { ...response.result.value, rows } } };
}
