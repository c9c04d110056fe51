// One of the five figures: its value, its change against the range before, its course. Pressed, it is the big chart.

import type { TileResult } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { QueryResponse } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Sparkline } from '../charts/sparkline.tsx';
import { change } from '../ui/figures.ts';
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
          <b>{value === undefined ? '–' : measure.format(value)}</b>
          <Change measure={measure} value={value} before={before} />
          {points.length > 0 ? <Sparkline values={points} /> : <span class="spark" />}
        </>
      )}
    </button>
  );
}

function Change(props: {
  measure: Measure;
  value: number | undefined;
  before: number | undefined;
}) {
  const { measure, value = 0, before } = props;
  const text = before === undefined ? undefined : change(value, before);
  if (props.value === undefined) return <small />;
  if (before === undefined || text === undefined)
    return <small class="figure-change">nothing before</small>;
  const isBetter = value === before ? undefined : value > before === measure.isMoreBetter;
  return (
    <small class="figure-change">
      <span class={isBetter === undefined ? '' : isBetter ? 'good-text' : 'bad-text'}>{text}</span>{' '}
      from {measure.format(before)}
    </small>
  );
}

function totalOf({ result }: QueryResponse): number {
  if (result.case !== 'segmentation') return 0;
  return result.value.total ?? result.value.series[0]?.value ?? 0;
}
