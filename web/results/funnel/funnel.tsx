// Users step by step: how many went on, how many left, and how long they took.

import { figure, percent, plural } from '../../../platform/words/figures.ts';
import type { FunnelResult } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Shown } from '../shown.ts';
import { ConversionChart, ConversionTable } from './over-time.tsx';
import { StepBars } from './step-bars.tsx';
import { StepColumns } from './step-columns.tsx';
import { StepsTable } from './steps-table.tsx';
import { lastStep, share, total } from './totals.ts';

export function Funnel(shown: Shown<FunnelResult>) {
  const { spec, result } = shown;
  if (result.series.every((series) => total(series, 0) === 0))
    return <p class="hint">Nobody took the first step in this range.</p>;
  const open = result.series.reduce((sum, series) => sum + (series.open ?? 0), 0);
  return (
    <>
      <Conversion {...shown} />
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

/** From the first step to the last one, where there are no groups. */
function Conversion({ result }: Shown<FunnelResult>) {
  const [series, ...others] = result.series;
  if (!series || others.length > 0) return null;
  const last = lastStep(series);
  return (
    <p>
      <b>{percent(share(series, last, 0))}</b> converted: {figure(total(series, last))} of{' '}
      {plural(total(series, 0), 'user')}
    </p>
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
