// FUNNEL and RETENTION: who went on, and who came back.

import { figure, percent } from '../../../platform/words/figures.ts';
import type {
  FunnelResult,
  RetentionResult,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Answered, cellOf, incompleteNotes } from '../answered.ts';
import { groupName, kindName } from '../question-names.ts';
import { type ReportPart, type Row, tableOf } from '../report-part.ts';

const maxGroups = 3;

export function partOfFunnel({ title, spec, result, before }: Answered<FunnelResult>): ReportPart {
  const groups = result.series.slice(0, maxGroups);
  const rows = groups.flatMap((series, at) => {
    const group = spec.breakdowns.length > 0 ? `${groupName(spec, series)}: ` : '';
    // Groups of the two periods come in an order of their own.
    const former = spec.breakdowns.length > 0 ? undefined : before?.series[at];
    const entered = series.steps[0]?.total ?? 0;
    return series.steps.map((step, index): Row => {
      const { total = 0 } = step;
      const share = entered > 0 ? total / entered : 0;
      const cells = [cellOf(figure, total, former?.steps[index]?.total), { text: percent(share) }];
      const skipped = step.isOptional ? ' (may be skipped)' : '';
      return { name: `${group}${index + 1}. ${kindName(step.eventKind)}${skipped}`, cells, share };
    });
  });
  const open = groups.find(({ incompleteFrom }) => incompleteFrom !== undefined);
  const notes =
    open === undefined ? [] : ['Some who entered may still go on: their time is not over.'];
  return tableOf(title, ['Users', 'Of the first'], rows, notes);
}

export function partOfRetention({ title, spec, result }: Answered<RetentionResult>): ReportPart {
  const groups = result.series.slice(0, maxGroups);
  const rows = groups.flatMap((series) => {
    const group = spec.breakdowns.length > 0 ? `${groupName(spec, series)}: ` : '';
    return series.means.map(({ size, returned, share }, index): Row => {
      const name = `${group}${index === 0 ? 'At first' : `After ${index}`}`;
      const cells = [
        { text: figure(returned) },
        { text: figure(size) },
        { text: share === undefined ? '–' : percent(share) },
      ];
      return { name, cells, share: share ?? 0 };
    });
  });
  const incomplete = groups.find(({ incompleteFrom }) => incompleteFrom)?.incompleteFrom;
  return tableOf(title, ['Came back', 'Of', 'Share'], rows, incompleteNotes(incomplete));
}
