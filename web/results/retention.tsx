// Users who came back: a row for each cohort, the share of it in each later bucket, warmer where more came back.

import { useState } from 'preact/hooks';
import type {
  RetentionResult,
  RetentionSeries,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { Select } from '../fields/field.tsx';
import { readablePath } from '../text/readable-path.ts';
import { formatLabel } from '../time/time.tsx';
import { figure, percent } from '../ui/figures.ts';
import { bucketNames, groupName } from './names.ts';
import { type Shown, timeStyle } from './shown.ts';

export function Retention(shown: Shown<RetentionResult>) {
  const { spec, result, label, granularity, labels } = shown;
  const [chosen, setChosen] = useState('0');
  const series = result.series[Number(chosen)] ?? result.series[0];
  if (!series || series.cohorts.every(({ cohortSize }) => !cohortSize))
    return <p class="hint">Nobody began in this range.</p>;
  const style = timeStyle(granularity);
  const bucket = bucketNames[granularity];
  const columns = series.cohorts.map((_, index) => `${bucket} ${index}`);
  const named = (index: number): string => formatLabel(labels[index] ?? '', style);
  return (
    <>
      {result.series.length > 1 ? (
        <Select
          label="Group"
          value={chosen}
          options={result.series.map((one, index) => ({
            value: String(index),
            name: readablePath(groupName(spec, one)),
          }))}
          onValue={setChosen}
        />
      ) : null}
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
            <AllCohorts series={series} columns={columns} />
            {series.cohorts.map(({ cohort, cohortSize = 0, points }, index) => (
              <tr key={cohort}>
                <th scope="row">{named(index)}</th>
                <td>{figure(cohortSize)}</td>
                {points.map(({ value = 0 }, at) => (
                  <Cell key={columns[at]} size={cohortSize} back={value} />
                ))}
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

function AllCohorts({ series, columns }: { series: RetentionSeries; columns: readonly string[] }) {
  return (
    <tr>
      <th scope="row">All</th>
      <td>{figure(sum(series, 0).size)}</td>
      {columns.map((name, at) => (
        <Cell key={name} {...sum(series, at)} />
      ))}
    </tr>
  );
}

function Cell({ size, back }: { size: number; back: number }) {
  if (size === 0) return <td class="number">–</td>;
  const share = back / size;
  return (
    <td
      class="number heat"
      style={{ '--heat': `${Math.round(share * 100)}%` }}
      title={`${figure(back)} users`}
    >
      {percent(share)}
    </td>
  );
}

/** All cohorts that have come so far as their bucket `at`. */
function sum({ cohorts }: RetentionSeries, at: number): { size: number; back: number } {
  const reached = cohorts.filter(({ points }) => points[at] !== undefined);
  return {
    size: reached.reduce((total, { cohortSize = 0 }) => total + cohortSize, 0),
    back: reached.reduce((total, { points }) => total + (points[at]?.value ?? 0), 0),
  };
}
