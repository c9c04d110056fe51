// Users who came back: a row for each cohort, the share of it in each later bucket, warmer where more came back.

import { changeInPoints, figure, percent } from '../../../platform/words/figures.ts';
import type {
  DataPoint,
  RetentionCohort,
  RetentionResult,
  RetentionSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { openFrom, openName } from '../../time/open-buckets.ts';
import { formatLabel } from '../../time/time.tsx';
import { PersonsLink } from '../persons-link.tsx';
import type { Shown } from '../shown.ts';

export type Behind = Omit<Parameters<typeof PersonsLink>[0], 'children'>;

/** `behind`: who is in a cohort, and who of it returned at a later place; undefined where nobody can be listed. */
export function CohortTable(props: {
  shown: Shown<RetentionResult>;
  series: RetentionSeries;
  before: RetentionSeries | undefined;
  columns: readonly string[];
  named: (index: number) => string;
  behind: (index: number, later?: number) => Behind | undefined;
}) {
  const { shown, series, before, columns, named, behind } = props;
  const { labels, label, previous } = shown;
  return (
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
              <th scope="row">{rowName(labels, index, named(index))}</th>
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
  );
}

/** A day without its year where the row above has said it: on a phone the figures begin further to the left. */
function rowName(labels: readonly string[], index: number, name: string): string {
  const label = labels[index] ?? '';
  const year = label.slice(0, 4);
  const isRepeated = labels[index - 1]?.startsWith(year) && name.endsWith(year);
  return isRepeated ? formatLabel(label, 'date') : name;
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
