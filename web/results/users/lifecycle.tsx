// Users who are new, returning or resurrecting in a bucket, and below them those who did not come again.

import { useMemo } from 'preact/hooks';
import type {
  LifecycleResult,
  LifecycleSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { annotationsByBucket } from '../../annotations/annotations-by-bucket.ts';
import { ChartAnnotations } from '../../annotations/chart-annotations.tsx';
import { useAnnotations } from '../../annotations/known-annotations.ts';
import { DataTable } from '../../charts/data-table.tsx';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { labelDay } from '../../time/labels.ts';
import { formatLabel } from '../../time/time.tsx';
import { bucketOf, openFrom, openName, type Shown, timeStyle } from '../shown.ts';
import { columnsOf, sameGroup, withBefore } from './before.ts';
import { useGroup } from './group-choice.tsx';

const parts = ['New', 'Returning', 'Resurrecting', 'Dormant'];

export function Lifecycle(shown: Shown<LifecycleResult>) {
  const { result: whole, previous, label, granularity, labels, height, spec, isTile } = shown;
  const { group: result = whole, field, breakdown, one } = useGroup(spec, whole.series, whole);
  const before = one && previous ? sameGroup(spec, previous.series, one) : previous;
  const style = timeStyle(granularity);
  const annotations = useAnnotations();
  const notes = useMemo(() => annotationsByBucket(labels, annotations), [labels, annotations]);
  const open = openFrom(labels, result.incompleteFrom);
  const stacks = labels.map((from, index) => {
    const states = statesAt(result, index);
    const former = previous && statesAt(before, index);
    return {
      name: openName(formatLabel(from, style), index >= open),
      parts: states.map((users, state) => (state < 3 ? users : -users)),
      former,
      // Those who are active stand above zero.
      before: former?.slice(0, -1).reduce((sum, users) => sum + users, 0),
    };
  });
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
        {...(shown.onOpen || shown.onPersons
          ? { onPick: (index: number) => pick(shown, index, breakdown) }
          : {})}
      />
      <DataTable
        label={label}
        grid={{
          columns: ['Time', ...parts.flatMap((name) => columnsOf(name, previous !== undefined))],
          rows: stacks.map(({ name, parts: values, former }) => [
            name,
            ...values.flatMap((users, part) => withBefore(Math.abs(users), former?.[part])),
          ]),
        }}
      />
    </>
  );
}

/** Opens who was in a bucket; its events where nobody can be listed. */
function pick(
  { spec, labels, granularity, onOpen, onPersons }: Shown<LifecycleResult>,
  index: number,
  breakdown: { [key: string]: string } | undefined,
): void {
  const from = labels[index];
  const kind = spec.events[0]?.event?.kind ?? '';
  if (!from) return;
  const rows = { kind, eventIndex: 0, day: labelDay(from) };
  if (!onPersons || !breakdown) {
    onOpen?.(rows);
    return;
  }
  const figures = parts.map((name, part) => ({
    name,
    point: { state: part + 1, bucket: bucketOf(from), breakdown },
  }));
  onPersons({ title: formatLabel(from, timeStyle(granularity)), figures, rows });
}

/** The users of each state in a bucket, the dormant ones last. */
function statesAt(of: LifecycleResult | LifecycleSeries | undefined, index: number): number[] {
  const states = [of?.newUsers, of?.returningUsers, of?.resurrectingUsers, of?.dormantUsers];
  return states.map((points) => points?.[index]?.value ?? 0);
}
