// SEGMENTATION and TOP_K: a figure, or the greatest groups with bars.

import { figure } from '../../../platform/words/figures.ts';
import { othersName } from '../../../platform/words/insight-words.ts';
import {
  TopKQuery_Dimension as Dimension,
  type InsightQuerySpec,
  type SegmentationResult,
  type TopKResult,
  type TopKRow,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Answered, cellOf, isSame, valueCell } from '../answered.ts';
import { kindName, seriesName, valueName } from '../question-names.ts';
import { type ReportPart, tableOf, withBars } from '../report-part.ts';
import { lineInMail } from '../text-in-mail.ts';

export function partOfSegments(asked: Answered<SegmentationResult>): ReportPart {
  const { title, spec, result, before } = asked;
  const rows = result.series.map((series) => {
    const former = before?.series.find((one) => isSame(one, series))?.value;
    const cells = [valueCell(spec, series.value, former)];
    return { name: seriesName(spec, series), cells, value: series.value };
  });
  if (spec.breakdowns.length > 0) return tableOf(title, [''], withBars(rows));
  const figures = rows.map(({ name, cells }) => ({ name, cells }));
  return { kind: 'figures', title, rows: figures, notes: [] };
}

export function partOfTopK(asked: Answered<TopKResult>): ReportPart {
  const { title, spec, result, before } = asked;
  const rows = result.rows.map((row, index) => {
    const former = before?.rows.find((one) => isSameRow(one, row))?.value;
    const cells = [cellOf(figure, row.value, former)];
    return { name: rowName(spec, row, index), cells, value: row.value };
  });
  return tableOf(title, [''], withBars(rows));
}

function rowName(spec: InsightQuerySpec, row: TopKRow, index: number): string {
  if (row.isOthers) return othersName;
  const dimension = spec.topK?.dimension;
  switch (dimension) {
    case Dimension.EVENT_KIND:
      return kindName(row.dimensionValue ?? '');
    case Dimension.USER: {
      // Strangers are shown rows without anything that names a person.
      const id = row.profile?.externalId || row.dimensionValue;
      return id === undefined ? `User ${index + 1}` : lineInMail(id, 60);
    }
    case Dimension.PROPERTY:
    case Dimension.UNSPECIFIED:
    case undefined:
      return valueName(spec.topK?.property ?? '', row.isAbsent ? undefined : row.dimensionValue);
    default:
      return dimension satisfies never;
  }
}

/** Rows of strangers' users are nobody's in particular. */
function isSameRow(one: TopKRow, other: TopKRow): boolean {
  if (one.isOthers || other.isOthers) return one.isOthers && other.isOthers;
  if (one.isAbsent || other.isAbsent) return one.isAbsent && other.isAbsent;
  return one.dimensionValue !== undefined && one.dimensionValue === other.dimensionValue;
}
