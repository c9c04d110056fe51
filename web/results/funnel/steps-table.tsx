// The steps of each group of a funnel in figures.

import { milliseconds, percent } from '../../../platform/words/figures.ts';
import type { FunnelResult } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../../charts/data-table.tsx';
import { groupName } from '../names.ts';
import type { Shown } from '../shown.ts';
import { durationMs } from './step-figures.tsx';
import { stepName } from './step-names.ts';
import { isOptional, share, stepBefore, total } from './totals.ts';

export function StepsTable({ spec, result, label, drawn }: Shown<FunnelResult>) {
  const isSplit = spec.breakdowns.length > 0;
  return (
    <DataTable
      label={label}
      isAlone={drawn === 'table'}
      grid={{
        columns: [
          'Group',
          'Step',
          'Users',
          'Of the first step',
          'Of the step before',
          'Median',
          '95 of 100',
        ],
        rows: result.series.flatMap((series) =>
          series.steps.map(({ timing }, step) => [
            isSplit ? groupName(spec, series) : 'Everybody',
            `${step + 1}. ${stepName(spec, step)}${isOptional(series, step) ? ' (may be skipped)' : ''}`,
            total(series, step),
            percent(share(series, step, 0)),
            percent(share(series, step, stepBefore(series, step))),
            timing ? milliseconds(durationMs(timing.median)) : '',
            timing ? milliseconds(durationMs(timing.p95)) : '',
          ]),
        ),
      }}
    />
  );
}
