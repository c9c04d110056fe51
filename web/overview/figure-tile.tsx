// One of the five figures: its value, its change against the range before, its course. Pressed, it is the big chart.

import type { TileResult } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { QueryResponse } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Sparkline } from '../charts/sparkline.tsx';
import { Change } from '../results/change.tsx';
import type { Course } from './board.ts';
import type { Measure } from './measures.ts';

export function FigureTile(props: {
  measure: Measure;
  result: TileResult | undefined;
  course: Course | undefined;
  isChosen: boolean;
  onChoose: () => void;
}) {
  const { measure, result, course, isChosen } = props;
  const outcome = result?.outcome;
  const value = outcome?.case === 'insight' ? totalOf(outcome.value) : undefined;
  const before = result?.previous ? totalOf(result.previous) : undefined;
  const points = (course?.now.series[0]?.points ?? []).map((point) => point.value ?? 0);
  return (
    <button
      type="button"
      class="figure-tile"
      aria-pressed={isChosen}
      onClick={props.onChoose}
      data-tile={measure.id}
    >
      <span class="figure-name">{measure.name}</span>
      {outcome?.case === 'error' ? (
        <span class="bad-text">{outcome.value.message}</span>
      ) : (
        <>
          {value === undefined ? <i class="bone" /> : <b>{measure.format(value)}</b>}
          {value === undefined ? (
            <small />
          ) : (
            <Change
              value={value}
              before={before ?? 0}
              format={measure.format}
              isMoreBetter={measure.isMoreBetter}
            />
          )}
          {points.length > 0 ? <Sparkline values={points} /> : <span class="spark" />}
        </>
      )}
    </button>
  );
}

function totalOf({ result }: QueryResponse): number {
  if (result.case !== 'segmentation') return 0;
  return result.value.total ?? result.value.series[0]?.value ?? 0;
}
