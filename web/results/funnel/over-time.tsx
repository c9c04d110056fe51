// The conversion of a funnel over time: of the users who entered in each bucket, the part that reached the last step.

import { useMemo } from 'preact/hooks';
import { percent, plural } from '../../../platform/words/figures.ts';
import type {
  FunnelBucket,
  FunnelResult,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { maxLines } from '../../charts/line.ts';
import { TimeChart } from '../../charts/time-chart.tsx';
import { openFrom } from '../../time/open-buckets.ts';
import { formatLabel } from '../../time/time.tsx';
import { useZoom } from '../../time/use-zoom.ts';
import { groupName } from '../names.ts';
import { type Shown, timeStyle } from '../shown.ts';
import { stepName } from './step-names.ts';

export function ConversionChart(shown: Shown<FunnelResult>) {
  const { spec, result, granularity, labels, label } = shown;
  const isSplit = spec.breakdowns.length > 0;
  const lines = useMemo(
    () =>
      result.series.slice(0, maxLines).map((series) => ({
        name: isSplit ? groupName(spec, series) : 'Conversion',
        values: series.buckets.map(conversion),
      })),
    [result, spec],
  );
  const hidden = result.series.length - maxLines;
  return (
    <>
      <TimeChart
        {...{ labels, lines }}
        style={timeStyle(granularity)}
        label={`${label}, over time`}
        format={percent}
        unit="share"
        onZoom={useZoom(labels)}
        height={shown.height}
        openFrom={openFrom(labels, result.series[0]?.incompleteFrom)}
        isTile={shown.isTile}
      />
      {hidden > 0 ? (
        <p class="hint">The table has {plural(hidden, 'more group')} than the chart.</p>
      ) : null}
    </>
  );
}

export function ConversionTable(shown: Shown<FunnelResult>) {
  const { spec, result, granularity, labels, label } = shown;
  const isSplit = spec.breakdowns.length > 0;
  const style = timeStyle(granularity);
  const steps = spec.events.map((_, step) => `${step + 1}. ${stepName(spec, step)}`);
  return (
    <DataTable
      label={`${label}, over time`}
      isAlone={shown.drawn === 'table'}
      grid={{
        columns: ['Entered', ...(isSplit ? ['Group'] : []), ...steps, 'Conversion', 'May convert'],
        rows: result.series.flatMap((series) =>
          series.buckets.map((bucket, index) => {
            const share = conversion(bucket);
            return [
              formatLabel(labels[index] ?? '', style),
              ...(isSplit ? [groupName(spec, series)] : []),
              ...bucket.totals,
              share === null ? '' : percent(share),
              bucket.open ?? 0,
            ];
          }),
        ),
      }}
    />
  );
}

/** null where nobody entered. */
function conversion({ totals }: FunnelBucket): number | null {
  const [entered = 0] = totals;
  return entered === 0 ? null : (totals.at(-1) ?? 0) / entered;
}
