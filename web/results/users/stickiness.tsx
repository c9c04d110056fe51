// Users by the number of buckets in which they were active.

import type { StickinessResult } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { percent, plural } from '../../ui/figures.ts';
import { bucketNames } from '../names.ts';
import type { Shown } from '../shown.ts';
import { columnsOf, sameGroup, withBefore } from './before.ts';
import { useGroup } from './group-choice.tsx';

export function Stickiness(shown: Shown<StickinessResult>) {
  const { spec, result: whole, previous, label, granularity, height, onPersons } = shown;
  const chosen = useGroup(spec, whole.series, whole);
  const { group: result = whole, field, breakdown, one } = chosen;
  const before = one && previous ? sameGroup(spec, previous.series, one) : previous;
  const beforeOf = (buckets: number): number | undefined =>
    previous && (before?.points[buckets - 1]?.value ?? 0);
  const bucket = bucketNames[granularity];
  const sum = result.points.reduce((users, { value = 0 }) => users + value, 0);
  // Who was active so often or more: everybody was at least once.
  const all = spec.cumulative ? (result.points[0]?.value ?? 0) : sum;
  const nameOf = (buckets: number): string =>
    spec.cumulative ? `${plural(buckets, bucket)} or more` : plural(buckets, bucket);
  if (all === 0) return <p class="hint">Nobody was active in this range.</p>;
  return (
    <>
      {field}
      <StackedBars
        label={label}
        parts={['Users']}
        stacks={result.points.map(({ buckets, value = 0 }) => ({
          name: nameOf(buckets),
          parts: [value],
          before: beforeOf(buckets),
        }))}
        height={height}
        {...(onPersons && breakdown
          ? {
              onPick: (index: number) => {
                const title = nameOf(index + 1);
                const point = { activeBuckets: index + 1, breakdown };
                onPersons({ title, figures: [{ name: title, point }], rows: { kind: '' } });
              },
            }
          : {})}
      />
      {result.incompleteFrom ? (
        <p class="hint">The range is not over: users may still move to more {bucket}s.</p>
      ) : null}
      <DataTable
        label={label}
        grid={{
          columns: [`Active ${bucket}s`, ...columnsOf('Users', previous !== undefined), 'Share'],
          rows: result.points.map(({ buckets, value = 0 }) => [
            buckets,
            ...withBefore(value, beforeOf(buckets)),
            percent(value / all),
          ]),
        }}
      />
    </>
  );
}
