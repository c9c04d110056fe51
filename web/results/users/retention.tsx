// Users who came back: as a table of cohorts, as lines of their shares, or in figures alone.

import { percent } from '../../../platform/words/figures.ts';
import type {
  RetentionCohort,
  RetentionResult,
  RetentionSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { formatLabel } from '../../time/time.tsx';
import { bucketNames, groupName } from '../names.ts';
import { bucketOf, type Shown, timeStyle } from '../shown.ts';
import { sameGroup } from './before.ts';
import { type Behind, CohortTable } from './cohort-table.tsx';
import { useGroup } from './group-choice.tsx';
import { CohortLines, GroupLines } from './retention-lines.tsx';

export function Retention(shown: Shown<RetentionResult>) {
  const { spec, result, granularity } = shown;
  const chosen = useGroup<never, RetentionSeries>(spec, result.series);
  if (result.series.every(({ cohorts }) => cohorts.every(({ cohortSize }) => !cohortSize)))
    return <p class="hint">Nobody began in this range.</p>;
  const bucket = bucketNames[granularity];
  const columns = result.series[0]?.cohorts.map((_, index) => `${bucket} ${index}`) ?? [];
  if (shown.drawn === 'line' && result.series.length > 1)
    return (
      <>
        <GroupLines shown={shown} columns={columns} />
        <MeansTable shown={shown} columns={columns} />
      </>
    );
  const { group: series, field, breakdown } = chosen;
  return (
    <>
      {field}
      {series ? <OneGroup {...{ shown, series, columns, breakdown }} /> : null}
    </>
  );
}

function OneGroup(props: {
  shown: Shown<RetentionResult>;
  series: RetentionSeries;
  columns: readonly string[];
  /** Of the group whose persons can be listed. */
  breakdown: { [key: string]: string } | undefined;
}) {
  const { shown, series, columns, breakdown } = props;
  const { spec, previous, label, granularity, labels, onPersons, drawn } = shown;
  if (series.cohorts.every(({ cohortSize }) => !cohortSize))
    return <p class="hint">Nobody of this group began in this range.</p>;
  const before = previous && sameGroup(spec, previous.series, series);
  const style = timeStyle(granularity);
  const named = (index: number): string => formatLabel(labels[index] ?? '', style);
  const rows = series.cohorts.flatMap((cohort, index) => [
    rowOf(named(index), cohort),
    ...(previous ? [rowOf(`${named(index)}, before`, before?.cohorts[index])] : []),
  ]);
  const behind = (index: number, later?: number): Behind | undefined => {
    const [cohort, back] = [labels[index], labels[index + (later ?? 0)]];
    if (!onPersons || !breakdown || cohort === undefined || back === undefined) return undefined;
    const returned = later === undefined ? {} : { returned: bucketOf(back) };
    return {
      onPersons,
      title: [named(index), ...(later === undefined ? [] : [columns[later]])].join(', '),
      point: { breakdown, bucket: bucketOf(cohort), ...returned },
      rows: { kind: '' },
    };
  };
  return (
    <>
      {drawn === 'table' ? null : drawn === 'line' ? (
        <CohortLines {...{ shown, series, before, columns, named, behind }} />
      ) : (
        <CohortTable {...{ shown, series, before, columns, named, behind }} />
      )}
      <DataTable
        label={label}
        isHidden={shown.isTile && drawn !== 'line'}
        isAlone={drawn === 'table'}
        grid={{ columns: ['Began', 'Users', ...columns], rows }}
      />
    </>
  );
}

function rowOf(name: string, cohort: RetentionCohort | undefined): (string | number)[] {
  const { cohortSize = 0, points = [] } = cohort ?? {};
  return [name, cohortSize, ...points.map(({ value = 0 }) => value)];
}

/** The mean of each group: what the lines of groups are drawn from. */
function MeansTable(props: { shown: Shown<RetentionResult>; columns: readonly string[] }) {
  const { shown, columns } = props;
  return (
    <DataTable
      label={shown.label}
      grid={{
        columns: ['Group', 'Users', ...columns],
        rows: shown.result.series.map((series) => [
          groupName(shown.spec, series),
          series.cohorts.reduce((sum, { cohortSize = 0 }) => sum + cohortSize, 0),
          ...columns.map((_, at) => {
            const mean = series.means[at]?.share;
            return mean === undefined ? '' : percent(mean);
          }),
        ]),
      }}
    />
  );
}
