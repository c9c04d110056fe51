// TRENDS: a row for each bucket of time, with a column for each of the first series.

import type { TrendsResult } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Answered, incompleteNotes, isSame, valueCell } from '../answered.ts';
import { bucketNames } from '../bucket-name.ts';
import { seriesName } from '../question-names.ts';
import { type ReportPart, tableOf, withBars } from '../report-part.ts';

/** More columns have no room on a phone. */
const maxSeries = 3;

export function partOfTrends({
  title,
  spec,
  result,
  before,
  labels,
}: Answered<TrendsResult>): ReportPart {
  const made = result.series.filter(({ formulaIndex }) => formulaIndex !== undefined);
  // Where there are formulas, these are asked for.
  const all = made.length > 0 ? made : result.series;
  const series = all.slice(0, maxSeries);
  const former = series.map((one) => before?.series.find((other) => isSame(one, other)));
  const rows = bucketNames(labels).map((name, index) => {
    const values = series.map(({ points }) => points[index]?.value);
    const cells = values.map((value, at) =>
      valueCell(
        spec,
        value,
        spec.breakdowns.length > 0 ? undefined : former[at]?.points[index]?.value,
      ),
    );
    return { name, cells, value: values[0] };
  });
  const more = all.length - series.length;
  const notes = more > 0 ? [`${more} more series are on the board.`] : [];
  const heads = series.map((one) => seriesName(spec, one));
  const incomplete = incompleteNotes(series.find((one) => one.incompleteFrom)?.incompleteFrom);
  return tableOf(title, heads, withBars(rows), [...notes, ...incomplete]);
}
