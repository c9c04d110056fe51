// The course of the chosen figure with the range before, and the way to its rows.

import type { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Rows } from '../results/shown.ts';
import { Trends } from '../results/trends.tsx';
import { address } from '../router.ts';
import { timeQuery } from '../time/kept-range.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import type { Course } from './board.ts';
import type { Measure } from './measures.ts';

export function BigChart(props: {
  measure: Measure;
  course: Course | undefined;
  /** Stands alone: a course of before it may be of another range. */
  fault: unknown;
  granularity: Granularity;
  onOpen: (rows: Rows) => void;
}) {
  const { measure, course, fault, granularity, onOpen } = props;
  return (
    <div class="overview-plot">
      {fault ? (
        <Fault cause={fault} />
      ) : course ? (
        <Trends
          label={measure.name}
          name={measure.name}
          spec={measure.trend}
          result={course.now}
          previous={course.before}
          granularity={granularity}
          labels={course.labels}
          height={260}
          isTile={false}
          onOpen={onOpen}
        />
      ) : (
        <Loading of={measure.name.toLowerCase()} />
      )}
    </div>
  );
}

/** A list of the project with the page's range and filters. */
export function listHref(
  projectId: string,
  page: string,
  more: Record<string, string> = {},
): string {
  const { query } = address.value;
  const next = new URLSearchParams({ ...timeQuery(query), ...more });
  for (const name of ['filters', 'bots', 'segments']) {
    const value = query.get(name);
    if (value) next.set(name, value);
  }
  const text = next.toString();
  return `/p/${projectId}/${page}${text ? `?${text}` : ''}`;
}

/** The list of profiles knows neither ranges nor conditions on events: with conditions the events say more. */
export function RowsOf({ measure, projectId }: { measure: Measure; projectId: string }) {
  const { page, kind } = measure.rows;
  const { query } = address.value;
  const isFiltered = query.has('filters') || query.has('segments');
  if (page === 'profiles' && !isFiltered)
    return <a href={`/p/${projectId}/profiles`}>View users</a>;
  return <a href={listHref(projectId, 'events', kind ? { kind } : {})}>View events</a>;
}
