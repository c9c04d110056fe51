// Retention as lines: the mean and cohorts of one group, or the mean of each group.

import type { ComponentProps } from 'preact';
import { useMemo } from 'preact/hooks';
import { figure, percent, plural } from '../../../platform/words/figures.ts';
import type {
  RetentionResult,
  RetentionSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Line, maxLines } from '../../charts/line.ts';
import { groupName } from '../names.ts';
import type { Shown } from '../shown.ts';
import { sameGroup } from './before.ts';
import { cohortCount, cohortLines, meanLine } from './cohort-lines.ts';
import type { Behind } from './cohort-table.tsx';
import { CountChart } from './count-chart.tsx';

/** `before`: the group of the range before, of which the mean is compared. */
export function CohortLines(props: {
  shown: Shown<RetentionResult>;
  series: RetentionSeries;
  before: RetentionSeries | undefined;
  columns: readonly string[];
  named: (index: number) => string;
  behind: (index: number, later: number) => Behind | undefined;
}) {
  const { shown, series, before, columns, named, behind } = props;
  const { label, labels, height, onPersons } = shown;
  // The mean has a colour of its own.
  const cohorts = useMemo(
    () => cohortLines(series, labels, maxLines - 1, named),
    [series, labels, shown.granularity],
  );
  const lines = useMemo(
    () => [...meanLines('Mean', series, before), ...cohorts],
    [series, before, cohorts],
  );
  const hidden = cohortCount(series) - cohorts.length;
  const pick = (at: number): void => {
    const figures = cohorts.flatMap(({ name, cohort, values }) => {
      const found = at < values.length ? behind(cohort, at) : undefined;
      return found ? [{ name, point: found.point }] : [];
    });
    if (figures.length > 0) onPersons?.({ title: columns[at] ?? '', figures, rows: { kind: '' } });
  };
  const isPickable = onPersons !== undefined && behind(0, 0) !== undefined;
  return (
    <>
      <ShareLines
        {...{ label, lines, height }}
        names={columns}
        onPick={isPickable ? pick : undefined}
      />
      {hidden > 0 ? (
        <p class="hint">
          {figure(cohorts.length)} of {plural(hidden + cohorts.length, 'cohort')} are drawn; the
          table has all.
        </p>
      ) : null}
    </>
  );
}

function ShareLines(props: Omit<ComponentProps<typeof CountChart>, 'kind' | 'unit' | 'format'>) {
  return <CountChart {...props} kind="line" unit="share" format={percent} />;
}

/** The mean, and that of the range before in the same colour. */
function meanLines(
  name: string,
  { means }: RetentionSeries,
  before: RetentionSeries | undefined,
): Line[] {
  const mean = meanLine(name, means);
  if (!before) return [mean];
  return [mean, { ...meanLine(`${name}, before`, before.means), isPrevious: true }];
}

export function GroupLines(props: { shown: Shown<RetentionResult>; columns: readonly string[] }) {
  const { shown, columns } = props;
  const { spec, result, previous, label, height } = shown;
  const lines = useMemo(
    () =>
      result.series.slice(0, maxLines).flatMap((series) => {
        const before = previous && sameGroup(spec, previous.series, series);
        return meanLines(groupName(spec, series), series, before);
      }),
    [spec, result, previous],
  );
  const hidden = result.series.length - maxLines;
  return (
    <>
      <ShareLines {...{ label, lines, height }} names={columns} onPick={undefined} />
      {hidden > 0 ? (
        <p class="hint">The table has {plural(hidden, 'more group')} than the chart.</p>
      ) : null}
    </>
  );
}
