// How a run of a report went.

import type { ReportRunState } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { runText } from './report-words.ts';

export function RunState({ state }: { state: ReportRunState }) {
  const { name, tone } = runText(state);
  return (
    <span class="badge" data-tone={tone}>
      {name}
    </span>
  );
}
