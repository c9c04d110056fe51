// Users by the number of buckets in which they were active.

import type { StickinessResult } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { StackedBars } from '../charts/stacked-bars.tsx';
import { percent, plural } from '../ui/figures.ts';
import { bucketNames } from './names.ts';
import type { Shown } from './shown.ts';

export function Stickiness({ result, label, granularity, height }: Shown<StickinessResult>) {
  const bucket = bucketNames[granularity];
  const all = result.points.reduce((sum, { value = 0 }) => sum + value, 0);
  if (all === 0) return <p class="hint">Nobody was active in this range.</p>;
  return (
    <>
      <StackedBars
        label={label}
        parts={['Users']}
        stacks={result.points.map(({ buckets, value = 0 }) => ({
          name: plural(buckets, bucket),
          parts: [value],
        }))}
        height={height}
      />
      {result.incompleteFrom ? (
        <p class="hint">The range is not over: users may still move to more {bucket}s.</p>
      ) : null}
      <DataTable
        label={label}
        grid={{
          columns: [`Active ${bucket}s`, 'Users', 'Share'],
          rows: result.points.map(({ buckets, value = 0 }) => [
            buckets,
            value,
            percent(value / all),
          ]),
        }}
      />
    </>
  );
}
