// Users who are new, returning or resurrecting in a bucket, and below them those who did not come again.

import { useMemo } from 'preact/hooks';
import type {
  DataPoint,
  LifecycleResult,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { annotationsByBucket } from '../../annotations/annotations-by-bucket.ts';
import { ChartAnnotations } from '../../annotations/chart-annotations.tsx';
import { useAnnotations } from '../../annotations/known-annotations.ts';
import { DataTable } from '../../charts/data-table.tsx';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { labelDay } from '../../time/labels.ts';
import { formatLabel } from '../../time/time.tsx';
import { bucketOf, openFrom, openName, type Shown, timeStyle } from '../shown.ts';
import { useGroup } from './group-choice.tsx';

const parts = ['New', 'Returning', 'Resurrecting', 'Dormant'];

export function Lifecycle({
  result: whole,
  label,
  granularity,
  labels,
  height,
  onOpen,
  onPersons,
  spec,
  isTile,
}: Shown<LifecycleResult>) {
  const { group: result = whole, field, breakdown } = useGroup(spec, whole.series, whole);
  const style = timeStyle(granularity);
  const annotations = useAnnotations();
  const notes = useMemo(() => annotationsByBucket(labels, annotations), [labels, annotations]);
  const open = openFrom(labels, result.incompleteFrom);
  const at = (points: DataPoint[], index: number): number => points[index]?.value ?? 0;
  const stacks = labels.map((from, index) => ({
    name: openName(formatLabel(from, style), index >= open),
    parts: [
      at(result.newUsers, index),
      at(result.returningUsers, index),
      at(result.resurrectingUsers, index),
      -at(result.dormantUsers, index),
    ],
  }));
  return (
    <>
      {field}
      <StackedBars
        label={label}
        parts={parts}
        stacks={stacks}
        height={height}
        marked={notes}
        below={(at) => (
          <ChartAnnotations
            shown={notes.get(at ?? -1) ?? []}
            at={labels[at ?? -1]}
            isTile={isTile}
          />
        )}
        {...(onOpen || onPersons
          ? {
              onPick: (index: number) => {
                const from = labels[index];
                const kind = spec.events[0]?.event?.kind ?? '';
                if (!from) return;
                const rows = { kind, eventIndex: 0, day: labelDay(from) };
                if (!onPersons || !breakdown) return onOpen?.(rows);
                const figures = parts.map((name, part) => ({
                  name,
                  point: { state: part + 1, bucket: bucketOf(from), breakdown },
                }));
                onPersons({ title: formatLabel(from, style), figures, rows });
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
