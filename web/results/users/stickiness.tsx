// Users by the number of buckets in which they were active, or of their events.

import { figure, percent } from '../../../platform/words/figures.ts';
import type {
  InsightQuerySpec,
  StickinessPoint,
  StickinessResult,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import type { Line } from '../../charts/line.ts';
import { bucketNames } from '../names.ts';
import type { Shown } from '../shown.ts';
import { columnsOf, sameGroup, withBefore } from './before.ts';
import { CountChart } from './count-chart.tsx';
import { useGroup } from './group-choice.tsx';

export function Stickiness(shown: Shown<StickinessResult>) {
  const { spec, result: whole, previous, label, granularity, height, onPersons } = shown;
  const chosen = useGroup(spec, whole.series, whole);
  const { group: result = whole, field, breakdown, one } = chosen;
  const before = one && previous ? sameGroup(spec, previous.series, one) : previous;
  const beforeOf = (place: number): number | undefined =>
    previous && (before?.points[place]?.value ?? 0);
  const isOfEvents = spec.eventsPerUser !== undefined;
  const bucket = isOfEvents ? 'event' : bucketNames[granularity];
  const sum = result.points.reduce((users, { value = 0 }) => users + value, 0);
  // Who was active so often or more: everybody was at least once.
  const all = spec.cumulative ? (result.points[0]?.value ?? 0) : sum;
  const nameOf = (point: StickinessPoint): string => {
    const count = countOf(spec, point);
    return `${count} ${count === '1' ? bucket : `${bucket}s`}`;
  };
  const names = result.points.map(nameOf);
  const lines = linesOf(result.points, previous && beforeOf);
  if (all === 0) return <p class="hint">Nobody was active in this range.</p>;
  return (
    <>
      {field}
      {shown.drawn === 'table' ? null : (
        <CountChart
          label={label}
          names={names}
          lines={lines}
          height={height}
          onPick={
            onPersons && breakdown
              ? (index) => {
                  const picked = result.points[index];
                  if (!picked) return;
                  const title = nameOf(picked);
                  const { buckets: activeBuckets, events } = picked;
                  const point = { ...(isOfEvents ? { events } : { activeBuckets }), breakdown };
                  onPersons({ title, figures: [{ name: title, point }], rows: { kind: '' } });
                }
              : undefined
          }
        />
      )}
      {result.incompleteFrom ? (
        <p class="hint">The range is not over: users may still move to more {bucket}s.</p>
      ) : null}
      <DataTable
        label={label}
        isAlone={shown.drawn === 'table'}
        grid={{
          columns: [
            isOfEvents ? 'Events' : `Active ${bucket}s`,
            ...columnsOf('Users', previous !== undefined),
            'Share',
          ],
          rows: result.points.map((point, place) => [
            isOfEvents ? countOf(spec, point) : point.buckets,
            ...withBefore(point.value ?? 0, beforeOf(place)),
            percent((point.value ?? 0) / all),
          ]),
        }}
      />
    </>
  );
}

function linesOf(
  points: readonly StickinessPoint[],
  beforeOf: ((place: number) => number | undefined) | undefined,
): Line[] {
  const now = { name: 'Users', values: points.map(({ value = 0 }) => value) };
  if (!beforeOf) return [now];
  const values = points.map((_, place) => beforeOf(place) ?? 0);
  return [now, { name: 'Users, before', values, isPrevious: true }];
}

/** "3", "3 to 5", "6 or more": what a point counts. */
function countOf(spec: InsightQuerySpec, { buckets, events, eventsTo }: StickinessPoint): string {
  const least = figure(events || buckets);
  const hasNoEnd = spec.cumulative || (events > 0 && eventsTo === undefined);
  if (hasNoEnd) return `${least} or more`;
  return eventsTo === undefined || eventsTo === events ? least : `${least} to ${figure(eventsTo)}`;
}
