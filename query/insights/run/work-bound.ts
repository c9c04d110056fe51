// Bounds what the dearest forms of questions may work before they run: by the events of their range, which are counted
// already, and by what is done with each of them. Questions of usual forms are not counted.

import { Code, ConnectError } from '@connectrpc/connect';
import type { Condition } from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import {
  type InsightQuerySpec,
  InsightType,
  RetentionQuery_First,
  UserFlowQuery_NodeKind,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../../deadline.ts';
import { idsOf } from '../../segments/named-segments.ts';
import type { Question } from '../read/question.ts';
import { byPerson } from '../sql/persons.ts';
import { unlessLeft } from './single-flight.ts';
import type { StoredVersion } from './stored-version.ts';

/** What a form does with each event of the range. */
interface Work {
  /** Steps, series or hops, times the columns that each carries; and tests of segments, times the series. */
  parts: number;
  field: string;
  /** What the caller may ask less of. */
  asked: string;
}

/** 4 million events in a funnel of 20 steps by 5 properties, which take some 40 s of a core. */
const maxWork = 500_000_000;
/** With fewer parts even 50 million events are within it. */
const usualParts = 10;

type Counted = Pick<StoredVersion, 'events'>;

/**
 * Throws resource_exhausted that names the field. `look` is at the events of the question's range, and only taken where
 * the form is dear.
 */
export async function checkWork(
  question: Question,
  look: () => Promise<Counted>,
  { signal }: Pick<Deadline, 'signal'>,
): Promise<void> {
  if (workOf(question).parts <= usualParts) return;
  const { events } = await unlessLeft(look(), signal);
  const refusal = tooMuchWork(question, events);
  if (refusal !== undefined) throw refusal;
}

/** The refusal of a question over so many events, naming the field below `parent`; undefined for one that may run. */
export function tooMuchWork(
  question: Question,
  events: number,
  parent = '',
): ConnectError | undefined {
  const { parts, field, asked } = workOf(question);
  if (parts <= usualParts || events * parts <= maxWork) return undefined;
  const most = Math.floor(maxWork / parts);
  const rule = `${asked} take at most ${most} events in timeRange, which has ${events}`;
  const message = `${parent}${field}: ${rule}: ask for fewer, or for a shorter range`;
  return new ConnectError(message, Code.ResourceExhausted);
}

/** Each event is compared with every cohort that its user is in. */
function comparesEachCohort({ retention }: InsightQuerySpec): boolean {
  return retention?.first === RetentionQuery_First.RECURRING && retention.rolling24h;
}

/** That of the form, and that of the segments: the greater one is what to ask less of. */
function workOf(question: Question): Work {
  const form = workOfForm(question);
  const { spec } = question;
  const tests = idsOf(spec).map(({ id, field }) => ({
    ...{ field, tests: testsOfEvents(question.conditionOf(id)) },
  }));
  const [dearest] = tests.toSorted((one, other) => other.tests - one.tests);
  const count = tests.reduce((sum, one) => sum + one.tests, 0);
  if (dearest === undefined || count === 0) return form;
  // Each series has the people of each test found anew.
  const series = Math.max(1, spec.events.length);
  const parts = form.parts + count * series;
  if (count * series <= form.parts) return { ...form, parts };
  const asked = `${series} entries with ${count} tests of segments`;
  return { parts, field: dearest.field, asked };
}

/** A trait and a list of profiles look at no events. */
function testsOfEvents({ groups }: Condition): number {
  const tests = groups.flatMap((group) => group.tests);
  return tests.filter(({ test }) => test.case === 'did' || test.case === 'firstSeen').length;
}

function workOfForm({ spec, breakdowns: groups, buckets }: Question): Work {
  const { events, userFlow } = spec;
  // The person does not count as a breakdown: a question that may be answered may have its persons listed.
  const breakdowns = groups.filter((group) => group !== byPerson);
  if (spec.insightType === InsightType.USER_FLOW) {
    const hops = userFlow?.maxHops ?? 0;
    const isByProperty = userFlow?.nodeKind === UserFlowQuery_NodeKind.PROPERTY;
    const asked = `${hops} hops${isByProperty ? ' by a property' : ''}`;
    return { parts: hops * (isByProperty ? 2 : 1), field: 'spec.userFlow.maxHops', asked };
  }
  if (comparesEachCohort(spec)) {
    const asked = `the cohorts of ${buckets.length} buckets`;
    return { parts: buckets.length, field: 'spec.retention', asked };
  }
  const series = Math.max(1, events.length);
  const asked = `${series} entries by ${breakdowns.length} breakdowns`;
  const isOfRevenue = spec.insightType === InsightType.REVENUE;
  // The groups that series with formulas have in common are found before; payments per user ask for everybody, too.
  const isTwice = isOfRevenue || (spec.formulas.length > 0 && breakdowns.length > 0);
  const passes = isTwice ? 2 : 1;
  // Over time each entry is looked at for each step alone.
  const walked = spec.funnel?.overTime ? (series * (series + 1)) / 2 : series;
  // The currency is one more.
  const columns = 1 + breakdowns.length + (isOfRevenue ? 1 : 0);
  return { parts: passes * walked * columns, field: 'spec.events', asked };
}
