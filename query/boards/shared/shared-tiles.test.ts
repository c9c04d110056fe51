import { create, toJsonString } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { FilterOperator } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  RenderResponseSchema,
  TileDrawing,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { SharedTileSchema } from '../../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import {
  TopKQuery_Dimension as Dimension,
  InsightType,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { sharedTiles } from './shared-tiles.ts';

const secret = { property: 'plan', operator: FilterOperator.EQUALS, value: 'secret' };
const scope = { kind: 'purchase', filters: [secret] };

it('shows no person, no filter and no reason of a failure', () => {
  const row = {
    dimensionValue: 'secret-id',
    value: 7,
    profile: { id: 'secret-id', externalId: 'secret', properties: { name: 'secret' } },
  };
  const topK = { rows: [row, { isOthers: true, value: 3 }] };
  const answer = { result: { case: 'topK', value: topK } } as const;
  const specs = [
    { insightType: InsightType.TOP_K, topK: { dimension: Dimension.USER, scope } },
    {
      insightType: InsightType.TRENDS,
      events: [{ event: scope }],
      filterGroups: [{ filters: [secret] }],
    },
    { insightType: InsightType.SEGMENTATION, session: { scope } },
    { insightType: InsightType.USER_FLOW, userFlow: { scope } },
    { insightType: InsightType.FUNNEL, funnel: { exclusions: [{ event: scope, toStep: 2 }] } },
  ];
  const board = create(RenderResponseSchema, {
    dashboard: {
      tiles: [
        ...specs.map((value, index) => ({
          id: `t${index}`,
          content: { case: 'insight' as const, value },
          drawing: index === 1 ? TileDrawing.PIE : TileDrawing.UNSPECIFIED,
        })),
        { id: 'text', content: { case: 'markdown', value: '# Open' } },
      ],
    },
    results: [
      { tileId: 't0', outcome: { case: 'insight', value: answer }, previous: answer },
      {
        tileId: 't1',
        outcome: { case: 'error', value: { code: 'invalid_argument', message: 'secret' } },
      },
      { tileId: 't4', outcome: { case: 'error', value: { code: 'internal' } } },
    ],
  });
  const tiles = sharedTiles(board);
  const text = tiles.map((tile) => toJsonString(SharedTileSchema, tile)).join('\n');
  expect(text).not.toContain('secret');
  expect(text).toContain('purchase');
  expect(tiles[0]?.content).toMatchObject({
    case: 'insight',
    value: { result: { value: { rows: [{ value: 7 }, { value: 3, isOthers: true }] } } },
  });
  expect(tiles.slice(0, 2).map(({ drawing }) => drawing)).toEqual([0, TileDrawing.PIE]);
  expect(tiles[1]?.content).toMatchObject({ case: 'error', value: { code: 'invalid_argument' } });
  expect(tiles[4]?.question?.funnel).toMatchObject({
    exclusions: [{ event: { kind: 'purchase', filters: [] }, toStep: 2 }],
  });
  expect(tiles[5]?.content).toEqual({ case: 'markdown', value: '# Open' });
});
