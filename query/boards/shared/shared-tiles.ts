// The tiles of a dashboard as strangers see them: questions without their filters, rows of persons without anything
// that names one, and nothing of statements in SQL. Annotations of its range are on charts of time alone.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { EventFilter } from '../../../proto/gen/common/v1/filter_pb.js';
import type { Annotation } from '../../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import type {
  RenderResponse as BoardResponse,
  Tile,
  TileResult,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type SharedTile,
  SharedTileSchema,
} from '../../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import {
  TopKQuery_Dimension as Dimension,
  type FunnelQuery,
  type FunnelQuerySchema,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  type NamedSegment,
  type QueryResponse,
  type TopKQuery,
  type TopKQuerySchema,
  type UserFlowQuery,
  type UserFlowQuerySchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { idsOf } from '../../segments/named-segments.ts';

export function sharedTiles({ dashboard, results }: BoardResponse): SharedTile[] {
  const byTile = new Map(results.map((result) => [result.tileId, result]));
  return (dashboard?.tiles ?? []).map((tile) => sharedTile(tile, byTile.get(tile.id)));
}

function sharedTile(tile: Tile, result: TileResult | undefined): SharedTile {
  const { id, title, x = 0, y = 0, w, h, content, drawing } = tile;
  const shown = create(SharedTileSchema, { id, title, x, y, w, h, drawing });
  switch (content.case) {
    case 'markdown':
      shown.content = content;
      return shown;
    case 'statement':
      // Its rows may be persons, and its text may name one.
      shown.membersOnly = true;
      return shown;
    case 'insight':
      return result === undefined ? shown : sharedAnswer(shown, content.value, result);
    case undefined:
      return shown;
    default:
      return content satisfies never;
  }
}

function sharedAnswer(shown: SharedTile, spec: InsightQuerySpec, result: TileResult): SharedTile {
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
    // An answer of a statement, which no question has.
    case 'statement':
    case undefined:
      return shown;
    default:
      return result.outcome satisfies never;
  }
}

/**
 * What is asked, so that a page knows what to draw; what events are compared with may be nobody else's business. Fields
 * are listed: a new one is not shown, and does not compile, until somebody has decided about it.
 */
function withoutFilters(spec: InsightQuerySpec): InsightQuerySpec {
  const { insightType, events, breakdowns, breakdownLimit, conversionWindow, ...more } = spec;
  const { includeStepTiming, session, userFlow, topK, includeCookieless, formulas, ...others } =
    more;
  const { rollingDays, cumulative, funnel, retention, compare, flow, touch, ...numbers } = others;
  const { eventsPerUser, movingAverage, ...hidden } = numbers;
  const {
    filterGroups: _,
    filterGroupsOperator: __,
    segments: ___,
    notInSegments: ____,
    $typeName: _____,
    $unknown: ______,
    ...rest
  } = hidden;
  rest satisfies Record<string, never>;
  return create(InsightQuerySpecSchema, {
    ...{ insightType, breakdowns, breakdownLimit, includeStepTiming, includeCookieless, formulas },
    ...{ rollingDays, cumulative, compare, touch, movingAverage },
    ...(eventsPerUser && { eventsPerUser }),
    ...(conversionWindow && { conversionWindow }),
    ...(retention && { retention }),
    ...(flow && {
      flow: {
        ...(flow.from && { from: kindOf(flow.from) }),
        ...(flow.to && { to: kindOf(flow.to) }),
      },
    }),
    events: events.map(({ event, rollingDays: days, ...value }) => ({
      ...{ aggregation: value.aggregation, aggregationProperty: value.aggregationProperty },
      ...{ rollingDays: days, revenue: value.revenue },
      ...{ ...(event && { event: kindOf(event) }) },
    })),
    ...(session && {
      session: { metric: session.metric, ...(session.scope && { scope: kindOf(session.scope) }) },
    }),
    ...(userFlow && { userFlow: shownFlow(userFlow) }),
    ...(topK && { topK: shownTopK(topK) }),
    ...(funnel && { funnel: shownFunnel(funnel) }),
  });
}

function shownFunnel({
  exclusions,
  ...funnel
}: FunnelQuery): MessageInitShape<typeof FunnelQuerySchema> {
  const { order, holdProperty, overTime, reentry, optionalSteps } = funnel;
  return {
    ...{ order, holdProperty, overTime, reentry, optionalSteps },
    exclusions: exclusions.map(({ event, fromStep, toStep }) => ({
      ...{ fromStep, toStep, ...(event && { event: kindOf(event) }) },
    })),
  };
}

function shownFlow({
  scope,
  ...flow
}: UserFlowQuery): MessageInitShape<typeof UserFlowQuerySchema> {
  const { nodeKind, nodeProperty, groupBy, maxHops, maxNodes, maxLinks } = flow;
  return {
    ...{ nodeKind, nodeProperty, groupBy, maxHops, maxNodes, maxLinks },
    ...(scope && { scope: kindOf(scope) }),
  };
}

function shownTopK({ scope, ...top }: TopKQuery): MessageInitShape<typeof TopKQuerySchema> {
  const { dimension, property, metric, metricProperty, limit, omitOthers } = top;
  return {
    ...{ dimension, property, metric, metricProperty, limit, omitOthers },
    ...(scope && { scope: kindOf(scope) }),
  };
}

function kindOf({ kind, kinds }: EventFilter): { kind: string; kinds: string[] } {
  return { kind, kinds };
}

/** The names of those by which the answer is split; the others are conditions. */
function shownSegments(shown: InsightQuerySpec, { segments }: QueryResponse): NamedSegment[] {
  const grouped = idsOf({ ...shown, segments: [], notInSegments: [] }).map(({ id }) => id);
  return segments.filter(({ id }) => grouped.includes(id));
}

/** A form whose rows are persons has to be named here. */
function withoutPersons(spec: InsightQuerySpec, answer: QueryResponse): QueryResponse {
  const previous = answer.previous && { previous: withoutPersons(spec, answer.previous) };
  const response = { ...answer, ...previous, segments: shownSegments(spec, answer) };
  const { topK } = spec;
  const { result } = response;
  switch (result.case) {
    case 'topK': {
      if (topK?.dimension !== Dimension.USER) return response;
      const rows = result.value.rows.map(({ profile: _, dimensionValue: __, ...row }) => row);
      return { ...response, result: { case: 'topK', value: { ...result.value, rows } } };
    }
    case 'trends':
    case 'segmentation':
    case 'funnel':
    case 'retention':
    case 'userFlow':
    case 'lifecycle':
    case 'stickiness':
    case 'revenue':
    case undefined:
      return response;
    default:
      return result satisfies never;
  }
}

/** The annotations of its range, the newest first; none where no answer has buckets. */
export function sharedAnnotations(
  { time, results }: Pick<BoardResponse, 'time' | 'results'>,
  annotations: readonly Annotation[],
): { time: Timestamp; text: string }[] {
  const { from, to } = time?.range ?? {};
  const isOfTime = results.some(
    ({ outcome }) => outcome.case === 'insight' && outcome.value.bucketLabels.length > 0,
  );
  if (from === undefined || to === undefined || !isOfTime) return [];
  const [fromMs, toMs] = [timestampMs(from), timestampMs(to)];
  return annotations
    .flatMap(({ time: moment, text }) => (moment === undefined ? [] : [{ time: moment, text }]))
    .filter((one) => timestampMs(one.time) >= fromMs && timestampMs(one.time) < toMs)
    .toSorted((one, other) => timestampMs(other.time) - timestampMs(one.time));
}
