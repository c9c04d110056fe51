// Users step by step: how many went on, how many left, and how long they took.

import type { FunnelResult } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { plural } from '../../ui/figures.ts';
import type { Shown } from '../shown.ts';
import { ConversionChart, ConversionTable } from './over-time.tsx';
import { StepBars } from './step-bars.tsx';
import { StepColumns } from './step-columns.tsx';
import { StepsTable } from './steps-table.tsx';
import { total } from './totals.ts';

export function Funnel(shown: Shown<FunnelResult>) {
  const { spec, result } = shown;
  if (result.series.every((series) => total(series, 0) === 0))
    return <p class="hint">Nobody took the first step in this range.</p>;
  const open = result.series.reduce((sum, series) => sum + (series.open ?? 0), 0);
  return (
    <>
      <Drawing {...shown} />
      {open > 0 ? (
        <p class="hint">
          {plural(open, 'user')} may still convert: the time from the first step to the last is not
          over.
        </p>
      ) : null}
      {spec.funnel?.overTime ? <ConversionTable {...shown} /> : null}
      <StepsTable {...shown} />
    </>
  );
}

function Drawing(shown: Shown<FunnelResult>) {
  switch (shown.drawn) {
    case 'table':
      return null;
    case 'line':
      return (
        <>
          <ConversionChart {...shown} />
          <StepBars {...shown} />
        </>
      );
    case 'columns':
      return <StepColumns {...shown} />;
    default:
      return <StepBars {...shown} />;
  }
}
