// Users who came back: a row for each cohort, the share of it in each later bucket, warmer where more came back.

import type {
  DataPoint,
  RetentionCohort,
  RetentionResult,
  RetentionSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { formatLabel } from '../../time/time.tsx';
import { changeInPoints, figure, percent } from '../../ui/figures.ts';
import { bucketNames } from '../names.ts';
import { PersonsLink } from '../persons-link.tsx';
import { bucketOf, openFrom, openName, type Shown, timeStyle } from '../shown.ts';
import { sameGroup } from './before.ts';
import { useGroup } from './group-choice.tsx';

export function Retention(shown: Shown<RetentionResult>) {
  const { spec, result, previous, label, granularity, labels, onPersons } = shown;
  const { group: series, field, breakdown } = useGroup<never, RetentionSeries>(spec, result.series);
  if (!series || series.cohorts.every(({ cohortSize }) => !cohortSize))
    return <p class="hint">Nobody began in this range.</p>;
  const before = previous && sameGroup(spec, previous.series, series);
  const style = timeStyle(granularity);
  const bucket = bucketNames[granularity];
  const columns = series.cohorts.map((_, index) => `${bucket} ${index}`);
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
      {field}
      <div class="scroll retention" tabIndex={0} role="region" aria-label={label}>
        <table>
          <thead>
            <tr>
              <th scope="col">Began</th>
              <th scope="col">Users</th>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Means series={series} columns={columns} />
            {previous ? <MeansBefore {...{ series, before, columns }} /> : null}
            {series.cohorts.map(({ cohort, cohortSize = 0, points, incompleteFrom }, index) => (
              <tr key={cohort}>
                <th scope="row">{named(index)}</th>
                <td>
                  <Linked behind={behind(index)}>{figure(cohortSize)}</Linked>
                </td>
                <Points
                  behind={(later) => behind(index, later)}
                  open={openFrom(labels, incompleteFrom) - index}
                  {...{ cohortSize, points }}
                  before={before?.cohorts[index]}
                />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <DataTable
        label={label}
        isHidden={shown.isTile}
        grid={{ columns: ['Began', 'Users', ...columns], rows }}
      />
    </>
  );
}

function rowOf(name: string, cohort: RetentionCohort | undefined): (string | number)[] {
  const { cohortSize = 0, points = [] } = cohort ?? {};
  return [name, cohortSize, ...points.map(({ value = 0 }) => value)];
}

/** `open`: the place of the first point that is not over. */
function Points(props: {
  cohortSize: number;
  points: readonly DataPoint[];
  open: number;
  behind: (later: number) => Behind | undefined;
  before: RetentionCohort | undefined;
}) {
  const { cohortSize, points, open, behind, before } = props;
  return (
    <>
      {points.map(({ value = 0 }, at) => (
        <Cell
          key={at}
          size={cohortSize}
          back={value}
          isOpen={at >= open}
          behind={behind(at)}
          before={before && shareOf(before.cohortSize, before.points[at]?.value)}
        />
      ))}
    </>
  );
}

type Behind = Omit<Parameters<typeof PersonsLink>[0], 'children'>;

function Linked({ behind, children }: { behind: Behind | undefined; children: string }) {
  return behind ? <PersonsLink {...behind}>{children}</PersonsLink> : children;
}

/** Over the points that are over, of users and not of cohorts. */
function Means({ series, columns }: { series: RetentionSeries; columns: readonly string[] }) {
  return (
    <tr>
      <th scope="row">Mean</th>
      <td>{figure(series.cohorts.reduce((sum, { cohortSize = 0 }) => sum + cohortSize, 0))}</td>
      {columns.map((name, at) => {
        const { size = 0, returned = 0 } = series.means[at] ?? {};
        return <Cell key={name} size={size} back={returned} isOpen={false} />;
      })}
    </tr>
  );
}

/** The same of the period before, and by how many points of a hundred the mean has changed. */
function MeansBefore(props: {
  series: RetentionSeries;
  before: RetentionSeries | undefined;
  columns: readonly string[];
}) {
  const { series, before, columns } = props;
  const sizes = before?.cohorts.map(({ cohortSize = 0 }) => cohortSize) ?? [];
  return (
    <>
      <tr>
        <th scope="row">Mean before</th>
        <td>{figure(sizes.reduce((sum, size) => sum + size, 0))}</td>
        {columns.map((name, at) => {
          const { size = 0, returned = 0 } = before?.means[at] ?? {};
          return <Cell key={name} size={size} back={returned} isOpen={false} />;
        })}
      </tr>
      <tr>
        <th scope="row">Change</th>
        <td />
        {columns.map((name, at) => (
          <td key={name} class="number">
            {pointsBetween(series.means[at]?.share, before?.means[at]?.share)}
          </td>
        ))}
      </tr>
    </>
  );
}

function pointsBetween(now: number | undefined, before: number | undefined): string {
  if (now === undefined || before === undefined) return '–';
  return changeInPoints(now, before);
}

function shareOf(size = 0, back = 0): number | undefined {
  return size === 0 ? undefined : back / size;
}

function Cell(props: {
  size: number;
  back: number;
  isOpen: boolean;
  behind?: Behind | undefined;
  /** The share of the period before. */
  before?: number | undefined;
}) {
  const { size, back, isOpen, behind, before } = props;
  const former = before === undefined ? '' : `, ${percent(before)} before`;
  if (size === 0) return <td class="number">–</td>;
  const share = back / size;
  return (
    <td
      class={isOpen ? 'number heat open' : 'number heat'}
      style={{ '--heat': `${Math.round(share * 100)}%` }}
      title={openName(`${figure(back)} users${former}`, isOpen)}
    >
      <Linked behind={behind}>{percent(share)}</Linked>
    </td>
  );
}
