// The steps of a funnel side by side. A column is as high as its share of the group's first step, so that groups of any
// size compare; above it stand those who came to the step before and did not go on.

import { percent, plural } from '../../../platform/words/figures.ts';
import { readablePath } from '../../../platform/words/readable-path.ts';
import type {
  FunnelResult,
  FunnelSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { maxLines } from '../../charts/line.ts';
import { groupName } from '../names.ts';
import type { Shown } from '../shown.ts';
import { StepFigures, StepHead } from './step-figures.tsx';
import { isOptional, share, stepBefore } from './totals.ts';

/** What a step has in words above and below its columns, in px; these take the rest of the height. */
const wordsPx = 110;
const leastPx = 90;

export function StepColumns(shown: Shown<FunnelResult>) {
  const { spec, result, previous, label, height } = shown;
  const isSplit = spec.breakdowns.length > 0;
  const groups = result.series.slice(0, maxLines);
  const hidden = result.series.length - groups.length;
  const before = isSplit ? undefined : previous?.series[0];
  return (
    <>
      <div class="scroll funnel-wide" tabIndex={0} role="region" aria-label={`${label}: steps`}>
        <ol
          class="funnel-columns"
          aria-label={label}
          style={{ '--column-height': `${Math.max(leastPx, height - wordsPx)}px` }}
        >
          {groups[0]?.steps.map((_, step) => (
            <li key={step}>
              <StepHead shown={shown} step={step} />
              <div class="funnel-plot" aria-hidden="true">
                {groups.map((series, index) => (
                  <Column key={index} {...{ series, step, index }} />
                ))}
              </div>
              <div>
                {groups.map((series, index) => (
                  <div key={index} class="funnel-bar">
                    {isSplit ? (
                      <span class="clip funnel-group">
                        <i data-series={index % 8} />
                        {readablePath(groupName(spec, series))}
                      </span>
                    ) : null}
                    <StepFigures {...{ shown, series, step, before }} />
                  </div>
                ))}
              </div>
            </li>
          ))}
        </ol>
      </div>
      {hidden > 0 ? (
        <p class="hint">The table has {plural(hidden, 'more group')} than the chart.</p>
      ) : null}
    </>
  );
}

function Column(props: { series: FunnelSeries; step: number; index: number }) {
  const { series, step, index } = props;
  const went = share(series, step, 0);
  const came = isOptional(series, step) ? went : share(series, stepBefore(series, step), 0);
  return (
    <div class="funnel-column">
      <i class="funnel-left" style={{ height: `${Math.max(0, came - went) * 100}%` }} />
      <i data-series={index % 8} style={{ height: `${went * 100}%` }} title={percent(went)} />
    </div>
  );
}
