// Users who are new, returning or resurrecting in a bucket, and below them those who did not come again.

import { useMemo } from 'preact/hooks';
import { shortFigure } from '../../../platform/words/figures.ts';
import type {
  LifecycleResult,
  LifecycleSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import type { Line } from '../../charts/line.ts';
import { TimeChart } from '../../charts/time-chart.tsx';
import { labelDay } from '../../time/labels.ts';
import { openFrom, openName } from '../../time/open-buckets.ts';
import { formatLabel } from '../../time/time.tsx';
import { useZoom } from '../../time/use-zoom.ts';
import { bucketOf, type Shown, timeStyle } from '../shown.ts';
import { columnsOf, sameGroup, withBefore } from './before.ts';
import { useGroup } from './group-choice.tsx';

const parts = ['New', 'Returning', 'Resurrecting', 'Dormant'];

export function Lifecycle(shown: Shown<LifecycleResult>) {
  const { result: whole, previous, label, granularity, labels, spec, drawn } = shown;
  const { group: result = whole, field, breakdown, one } = useGroup(spec, whole.series, whole);
  const before = one && previous ? sameGroup(spec, previous.series, one) : previous;
  const style = timeStyle(granularity);
  const open = openFrom(labels, result.incompleteFrom);
  const mayPick = shown.onOpen !== undefined || shown.onPersons !== undefined;
  const kind = drawn === 'line' ? 'line' : 'stacked';
  const lines = useMemo(
    () => linesOf(result, previous && before, labels),
    [result, previous, before, labels],
  );
  return (
    <>
      {field}
      {drawn === 'table' ? null : (
        <TimeChart
          {...{ label, labels, lines, kind, style }}
          labelsBefore={shown.labelsBefore}
          format={usersOf}
          height={shown.height}
          openFrom={open}
          isTile={shown.isTile}
          onPick={mayPick ? (index) => pick(shown, index, breakdown) : undefined}
          onZoom={useZoom(labels)}
        />
      )}
      <DataTable
        label={label}
        isAlone={drawn === 'table'}
        grid={{
          columns: ['Time', ...parts.flatMap((name) => columnsOf(name, previous !== undefined))],
          rows: labels.map((from, index) => {
            const former = previous && statesAt(before, index);
            return [
              openName(formatLabel(from, style), index >= open),
              ...statesAt(result, index).flatMap((users, part) =>
                withBefore(users, former?.[part]),
              ),
            ];
          }),
        }}
      />
    </>
  );
}

/** There are no fewer than none of those who hang down. */
function usersOf(value: number): string {
  return shortFigure(Math.abs(value));
}

/** Those who are gone hang down. Of the range before, those who were active stand above zero. */
function linesOf(
  result: LifecycleResult | LifecycleSeries,
  before: LifecycleResult | LifecycleSeries | undefined,
  labels: readonly string[],
): Line[] {
  const states = labels.map((_, index) => statesAt(result, index));
  const lines: Line[] = parts.map((name, part) => ({
    name,
    values: states.map((users) => (part < 3 ? (users[part] ?? 0) : -(users[part] ?? 0))),
  }));
  if (!before) return lines;
  const active = labels.map((_, index) =>
    statesAt(before, index)
      .slice(0, -1)
      .reduce((sum, users) => sum + users, 0),
  );
  return [...lines, { name: 'Active before', values: active, isPrevious: true }];
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
