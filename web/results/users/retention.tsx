// Users who came back: a row for each cohort, the share of it in each later bucket, warmer where more came back.

import type {
  DataPoint,
  RetentionResult,
  RetentionSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { formatLabel } from '../../time/time.tsx';
import { figure, percent } from '../../ui/figures.ts';
import { bucketNames } from '../names.ts';
import { PersonsLink } from '../persons-link.tsx';
import { bucketOf, openFrom, openName, type Shown, timeStyle } from '../shown.ts';
import { useGroup } from './group-choice.tsx';

export function Retention(shown: Shown<RetentionResult>) {
  const { spec, result, label, granularity, labels, onPersons } = shown;
  const { group: series, field, breakdown } = useGroup<never, RetentionSeries>(spec, result.series);
  if (!series || series.cohorts.every(({ cohortSize }) => !cohortSize))
    return <p class="hint">Nobody began in this range.</p>;
  const style = timeStyle(granularity);
  const bucket = bucketNames[granularity];
  const columns = series.cohorts.map((_, index) => `${bucket} ${index}`);
  const named = (index: number): string => formatLabel(labels[index] ?? '', style);
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
                />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.isTile ? null : (
        <DataTable
          label={label}
          grid={{
            columns: ['Began', 'Users', ...columns],
            rows: series.cohorts.map(({ cohortSize = 0, points }, index) => [
              named(index),
              cohortSize,
              ...points.map(({ value = 0 }) => value),
            ]),
          }}
        />
      )}
    </>
  );
}

/** `open`: the place of the first point that is not over. */
function Points(props: {
  cohortSize: number;
  points: readonly DataPoint[];
  open: number;
  behind: (later: number) => Behind | undefined;
}) {
  const { cohortSize, points, open, behind } = props;
  return (
    <>
      {points.map(({ value = 0 }, at) => (
        <Cell key={at} size={cohortSize} back={value} isOpen={at >= open} behind={behind(at)} />
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

function Cell(props: { size: number; back: number; isOpen: boolean; behind?: Behind | undefined }) {
  const { size, back, isOpen, behind } = props;
  if (size === 0) return <td class="number">–</td>;
  const share = back / size;
  return (
    <td
      class={isOpen ? 'number heat open' : 'number heat'}
      style={{ '--heat': `${Math.round(share * 100)}%` }}
      title={openName(`${figure(back)} users`, isOpen)}
    >
      <Linked behind={behind}>{percent(share)}</Linked>
    </td>
  );
}
