// The drawing of a tile as boards store it, and as the address has it.

import { TileDrawing } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { DrawingId } from './drawings.ts';

const stored: readonly (readonly [DrawingId, TileDrawing])[] = [
  ['line', TileDrawing.LINE],
  ['bars', TileDrawing.BARS],
  ['area', TileDrawing.AREA],
  ['stacked', TileDrawing.STACKED],
  ['percent', TileDrawing.PERCENT],
  ['number', TileDrawing.NUMBER],
  ['pie', TileDrawing.PIE],
  ['table', TileDrawing.TABLE],
  ['columns', TileDrawing.COLUMNS],
  ['cohorts', TileDrawing.COHORTS],
  ['flow', TileDrawing.FLOW],
];

/** undefined where none is chosen, or one that this version does not know. */
export function idOfDrawing(drawing: TileDrawing): DrawingId | undefined {
  return stored.find(([, one]) => one === drawing)?.[0];
}

export function storedDrawing(id: string | undefined): TileDrawing {
  return stored.find(([one]) => one === id)?.[1] ?? TileDrawing.UNSPECIFIED;
}
