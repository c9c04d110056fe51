// The steps of a funnel below each other, with a bar as long as its users for each group.

import { readablePath } from '../../../platform/words/readable-path.ts';
import type { FunnelResult } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { groupName } from '../names.ts';
import type { Shown } from '../shown.ts';
import { StepFigures, StepHead } from './step-figures.tsx';
import { total } from './totals.ts';

export function StepBars(shown: Shown<FunnelResult>) {
  const { spec, result, previous, label } = shown;
  const isSplit = spec.breakdowns.length > 0;
  const most = Math.max(1, ...result.series.map((series) => total(series, 0)));
  return (
    <ol class="funnel" aria-label={label}>
      {result.series[0]?.steps.map((_, step) => (
        <li key={step}>
          <StepHead shown={shown} step={step} />
          {result.series.map((series, index) => (
            <div key={index} class="funnel-bar">
              {isSplit ? (
                <span class="clip funnel-group">{readablePath(groupName(spec, series))}</span>
              ) : null}
              <div class="funnel-track">
                <i
                  data-series={index % 8}
                  style={{ width: `${(total(series, step) / most) * 100}%` }}
                />
              </div>
              <StepFigures
                {...{ shown, series, step }}
                before={isSplit ? undefined : previous?.series[0]}
              />
            </div>
          ))}
        </li>
      ))}
    </ol>
  );
}
