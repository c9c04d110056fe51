// Users who are new, returning or resurrecting in a bucket, and below them those who did not come again.

import type { DataPoint, LifecycleResult } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { StackedBars } from '../charts/stacked-bars.tsx';
import { formatTime, toDate } from '../time/time.tsx';
import { type Shown, timeStyle } from './shown.ts';

const parts = ['New', 'Returning', 'Resurrecting', 'Dormant'];

export function Lifecycle({
  result,
  label,
  granularity,
  zone,
  height,
  onOpen,
  spec,
}: Shown<LifecycleResult>) {
  const moments = result.newUsers.flatMap(({ time }) => (time ? [toDate(time)] : []));
  const style = timeStyle(granularity);
  const at = (points: DataPoint[], index: number): number => points[index]?.value ?? 0;
  const stacks = moments.map((moment, index) => ({
    name: formatTime(moment, style, zone),
    parts: [
      at(result.newUsers, index),
      at(result.returningUsers, index),
      at(result.resurrectingUsers, index),
      -at(result.dormantUsers, index),
    ],
  }));
  return (
    <>
      <StackedBars
        label={label}
        parts={parts}
        stacks={stacks}
        height={height}
        {...(onOpen
          ? {
              onPick: (index: number) => {
                const from = moments[index];
                if (from) onOpen({ kind: spec.events[0]?.event?.kind ?? '', eventIndex: 0, from });
              },
            }
          : {})}
      />
      <DataTable
        label={label}
        grid={{
          columns: ['Time', ...parts],
          rows: stacks.map(({ name, parts: values }) => [name, ...values.map(Math.abs)]),
        }}
      />
    </>
  );
}
