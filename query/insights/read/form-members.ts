// Which members of a question are for which of its forms. One that is set and that the form does not read is refused:
// the caller would take the answer for one of another question.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import {
  AggregationType,
  type InsightQuerySpec,
  InsightType,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';

const { TRENDS, SEGMENTATION, FUNNEL, RETENTION, USER_FLOW, TOP_K, LIFECYCLE, STICKINESS } =
  InsightType;

interface Member {
  /** Below `spec`. */
  field: string;
  isSet: boolean;
  /** The forms that read it. */
  forms: readonly InsightType[];
}

/** Throws invalid_argument for the first member that the question's form does not read. */
export function checkMembers(spec: InsightQuerySpec): void {
  for (const { field, isSet, forms } of membersOf(spec)) {
    if (!isSet || forms.includes(spec.insightType)) continue;
    const names = forms.map((form) => InsightType[form]);
    const last = names.pop() ?? '';
    const all = names.length === 0 ? last : `${names.join(', ')} and ${last}`;
    throw invalidArgument(`spec.${field}`, `is for ${all}`);
  }
  const ofEvents = { events: spec.events, formulas: spec.formulas };
  for (const [field, entries] of Object.entries(ofEvents)) {
    if (spec.session === undefined || entries.length === 0) continue;
    throw invalidArgument(`spec.${field}`, 'must be empty where session is set');
  }
  if (spec.session !== undefined && (spec.rollingDays !== 0 || spec.cumulative)) {
    const field = spec.cumulative ? 'cumulative' : 'rollingDays';
    throw invalidArgument(`spec.${field}`, 'is for events, not for visits');
  }
}

function membersOf(spec: InsightQuerySpec): Member[] {
  const { events, breakdowns, session, userFlow, topK } = spec;
  const values = [TRENDS, SEGMENTATION];
  const grouped = [...values, FUNNEL, RETENTION];
  return [
    { field: 'session', isSet: session !== undefined, forms: values },
    { field: 'userFlow', isSet: userFlow !== undefined, forms: [USER_FLOW] },
    { field: 'topK', isSet: topK !== undefined, forms: [TOP_K] },
    { field: 'conversionWindow', isSet: spec.conversionWindow !== undefined, forms: [FUNNEL] },
    { field: 'includeStepTiming', isSet: spec.includeStepTiming, forms: [FUNNEL] },
    { field: 'formulas', isSet: spec.formulas.length > 0, forms: values },
    { field: 'rollingDays', isSet: spec.rollingDays !== 0, forms: [TRENDS] },
    { field: 'cumulative', isSet: spec.cumulative, forms: [TRENDS] },
    { field: 'breakdowns', isSet: breakdowns.length > 0, forms: grouped },
    { field: 'breakdownLimit', isSet: spec.breakdownLimit !== 0, forms: grouped },
    { field: 'events', isSet: events.length > 0, forms: [...grouped, LIFECYCLE, STICKINESS] },
    ...events.flatMap(({ aggregation, aggregationProperty, rollingDays }, index) => [
      { field: `events[${index}].rollingDays`, isSet: rollingDays !== 0, forms: [TRENDS] },
      // TOTAL is the aggregation of an event that names none.
      {
        field: `events[${index}].aggregation`,
        isSet: aggregation > AggregationType.TOTAL,
        forms: values,
      },
      {
        field: `events[${index}].aggregationProperty`,
        isSet: aggregationProperty !== '',
        forms: values,
      },
    ]),
  ];
}
