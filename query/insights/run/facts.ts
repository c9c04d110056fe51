// What the statement of a question depends on besides the question: with which types its properties were ever stored,
// and whether the project has ever deleted a profile.

import {
  AggregationType,
  InsightType,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../../deadline.ts';
import { type PropertyTypes, readPropertyTypes } from '../read/property-types.ts';
import { type Question, traitPrefix } from '../read/question.ts';
import type { AskedTogether } from './asked-together.ts';
import { type InsightRuns, type Stored, unlessLeft } from './insight-runs.ts';

export type Facts = Pick<Question, 'typesOf' | 'hasDeletions'>;

/** A question, and all that are asked with it. */
type Questions = readonly [Question, ...Question[]];

interface Sources {
  runs: InsightRuns;
  stored: Stored;
  together: AskedTogether;
  deadline: Deadline;
}

/** Throws as readPropertyTypes and `stored` do. */
export async function factsOf(
  questions: Questions,
  { runs, stored, together, deadline }: Sources,
): Promise<Facts> {
  const [own] = questions;
  const names = shownProperties(questions);
  const readTypes = async (): Promise<ReadonlyMap<string, PropertyTypes> | undefined> =>
    names.length === 0
      ? undefined
      : readPropertyTypes(runs.smallReads(own.projectId), own.projectId, names, deadline);
  const [types, hasDeletions] = await Promise.all([
    together.types.get(JSON.stringify(names), deadline.signal, readTypes),
    countsUsers(own)
      ? unlessLeft(stored.seen(), deadline.signal).then((seen) => seen.hasDeletions)
      : true,
  ]);
  return { typesOf: (property) => types?.get(property), hasDeletions };
}

/** Only properties that are shown are looked up: a filter's value tells which types can have it. */
function shownProperties(questions: Questions): string[] {
  const shown = questions.flatMap(({ breakdowns, spec }) => [
    ...breakdowns,
    ...[spec.userFlow?.nodeProperty ?? '', spec.topK?.property ?? ''],
  ]);
  const isName = (name: string): boolean => name !== '' && !name.startsWith(traitPrefix);
  return [...new Set(shown.filter(isName))].sort();
}

/** False for some questions that have to find users, too: their statements look for deleted persons in any case. */
function countsUsers({ spec }: Question): boolean {
  switch (spec.insightType) {
    case InsightType.FUNNEL:
    case InsightType.RETENTION:
    case InsightType.LIFECYCLE:
    case InsightType.STICKINESS:
      return true;
    case InsightType.TOP_K:
      return spec.topK?.dimension === TopKQuery_Dimension.USER;
    case InsightType.UNSPECIFIED:
    case InsightType.TRENDS:
    case InsightType.SEGMENTATION:
    case InsightType.USER_FLOW:
      return spec.events.some(({ aggregation }) => ofUsers.has(aggregation));
    default:
      // A number that is no type is refused when it is planned.
      spec.insightType satisfies never;
      return false;
  }
}

const ofUsers: ReadonlySet<AggregationType> = new Set([
  AggregationType.UNIQUE_USERS,
  AggregationType.PER_USER_AVG,
]);
