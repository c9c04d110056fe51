// What each form of a question is made of: its buckets, and the members of a question that it reads. One that is set
// and that the form does not read is refused: the caller would take the answer for one of another question.

import { isFieldSet } from '@bufbuild/protobuf';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import {
  AggregationType,
  type EventQuery,
  EventQuerySchema,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  Touch,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';

/** Of `spec`, or of an item of `spec.events`. */
type Member = keyof InsightQuerySpec | keyof EventQuery;

interface FormRules {
  /** Its result tells the time of each bucket, or how many there are. */
  buckets: 'timed' | 'counted' | 'none';
  /** Besides those that every form reads. */
  reads: readonly Member[];
}

const ofEveryForm = [
  ...['insightType', 'filterGroups', 'filterGroupsOperator', 'segments', 'notInSegments'],
  'includeCookieless',
];
const grouped: readonly Member[] = [
  ...(['events', 'event', 'breakdowns', 'breakdownLimit', 'compare'] as const),
];
const ofNumbers: readonly Member[] = [
  ...(['aggregation', 'aggregationProperty', 'formulas', 'session', 'touch'] as const),
];
const values = [...grouped, ...ofNumbers];

/** A form without a line here does not compile. */
const formRules: Readonly<Record<InsightType, FormRules | undefined>> = {
  [InsightType.TRENDS]: {
    buckets: 'timed',
    reads: [...values, 'rollingDays', 'cumulative', 'movingAverage'],
  },
  [InsightType.SEGMENTATION]: { buckets: 'none', reads: values },
  [InsightType.FUNNEL]: {
    buckets: 'none',
    reads: [...grouped, 'conversionWindow', 'includeStepTiming', 'funnel'],
  },
  [InsightType.RETENTION]: { buckets: 'timed', reads: [...grouped, 'retention'] },
  [InsightType.USER_FLOW]: { buckets: 'none', reads: ['userFlow', 'flow'] },
  [InsightType.TOP_K]: { buckets: 'none', reads: ['topK', 'compare'] },
  [InsightType.LIFECYCLE]: { buckets: 'timed', reads: grouped },
  [InsightType.STICKINESS]: {
    buckets: 'counted',
    reads: [...grouped, 'cumulative', 'eventsPerUser'],
  },
  [InsightType.REVENUE]: {
    buckets: 'timed',
    reads: [
      ...grouped,
      ...(['revenue', 'aggregationProperty', 'formulas', 'cumulative', 'movingAverage'] as const),
    ],
  },
  [InsightType.UNSPECIFIED]: undefined,
};

/** Of a question's result. Throws invalid_argument for no form, and for a number that is none. */
export function bucketsOf(spec: InsightQuerySpec): FormRules['buckets'] {
  const { insightType, funnel, eventsPerUser } = spec;
  const { buckets } = rulesOf(insightType);
  if (buckets === 'counted' && eventsPerUser !== undefined) return 'none';
  return funnel?.overTime ? 'timed' : buckets;
}

function rulesOf(form: InsightType): FormRules {
  const rules = formRules[form];
  if (rules !== undefined) return rules;
  const isMissing = form === InsightType.UNSPECIFIED;
  const rule = isMissing ? 'is required' : `${Number(form)} is not a type`;
  throw invalidArgument('spec.insightType', rule);
}

/** Throws invalid_argument for a member that is set and that the question's form does not read. */
export function checkMembers(spec: InsightQuerySpec): void {
  const { events, formulas, session, rollingDays, cumulative } = spec;
  const isSet = InsightQuerySpecSchema.fields.filter((field) => isFieldSet(spec, field));
  const named = isSet.map(({ localName }) => localName);
  // Where several are not for the form, the one for the fewest others tells most.
  const byForms = named.toSorted((one, other) => formsOf(one).length - formsOf(other).length);
  for (const member of byForms) checkMember(spec, member, `spec.${member}`);
  for (const [index, event] of events.entries()) {
    for (const { localName } of EventQuerySchema.fields.filter((one) => isFieldSet(event, one))) {
      // TOTAL is the aggregation of an event that names none.
      const isTotal = localName === 'aggregation' && event.aggregation === AggregationType.TOTAL;
      if (!isTotal) checkMember(spec, localName, `spec.events[${index}].${localName}`);
    }
  }
  if (session === undefined) return;
  for (const [field, entries] of Object.entries({ events, formulas })) {
    if (entries.length === 0) continue;
    throw invalidArgument(`spec.${field}`, 'must be empty where session is set');
  }
  if (spec.touch !== Touch.UNSPECIFIED) {
    throw invalidArgument('spec.touch', 'is for users, not for visits');
  }
  if (rollingDays === 0 && !cumulative) return;
  const field = cumulative ? 'cumulative' : 'rollingDays';
  throw invalidArgument(`spec.${field}`, 'is for events, not for visits');
}

function checkMember({ insightType }: InsightQuerySpec, member: string, path: string): void {
  const forms = formsOf(member);
  if (ofEveryForm.includes(member) || forms.includes(InsightType[insightType])) return;
  const last = forms.pop() ?? 'no form';
  throw invalidArgument(
    path,
    `is for ${forms.length === 0 ? last : `${forms.join(', ')} and ${last}`}`,
  );
}

/** The names of the forms that read the member. */
function formsOf(member: string): string[] {
  return Object.entries(formRules).flatMap(([form, rules]) =>
    rules?.reads.some((one) => one === member) ? [InsightType[Number(form)] ?? ''] : [],
  );
}
