// The range of the address as the dashboards' methods take it: a preset where there is one, so that the range before
// ends as far as this one has come.

import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type DashboardTimeRange,
  DashboardTimeRangeSchema,
  TimeRangePreset as Preset,
  type RenderedTime,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { Range } from '../time/range.tsx';

const presetOf: Record<string, Preset> = {
  today: Preset.TODAY,
  yesterday: Preset.YESTERDAY,
  '7d': Preset.LAST_7_DAYS,
  '30d': Preset.LAST_30_DAYS,
  '90d': Preset.LAST_90_DAYS,
  '12m': Preset.LAST_12_MONTHS,
  week: Preset.THIS_WEEK,
  lastweek: Preset.LAST_WEEK,
  month: Preset.THIS_MONTH,
  lastmonth: Preset.LAST_MONTH,
};

/** `range`: what the address was read as. */
export function boardTime(query: URLSearchParams, range: Range): DashboardTimeRange {
  const isOwn = query.has('from') && query.has('to');
  const preset = presetOf[query.get('range') ?? '7d'];
  if (!isOwn && preset !== undefined)
    return create(DashboardTimeRangeSchema, { range: { case: 'preset', value: preset } });
  const fixed = { from: timestampFromDate(range.from), to: timestampFromDate(range.to) };
  return create(DashboardTimeRangeSchema, { range: { case: 'fixed', value: fixed } });
}

/** Names the time that a board was rendered for, in keys of questions that are asked for it beside the board. */
export function timeKey({ range, granularity, timezone, weekStart }: RenderedTime): string {
  const { from, to } = range ?? {};
  return `${from?.seconds} ${to?.seconds} ${granularity} ${timezone} ${weekStart}`;
}
