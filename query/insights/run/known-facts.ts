// What the statement of a question depends on besides the question: with which types its properties were ever stored,
// and whether the project has ever deleted a profile. Both hardly ever change, so that a statement is made of what was
// read last, and runs while that is read anew.

import { createHash } from 'node:crypto';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';
import {
  AggregationType,
  InsightType,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../../deadline.ts';
import { type PropertyTypes, readPropertyTypes } from '../question/property-types.ts';
import { type Question, traitPrefix } from '../question/question.ts';
import type { AskedTogether } from './asked-together.ts';
import { type InsightRuns, type Stored, unlessLeft } from './insight-runs.ts';

/** Of each name; undefined where the table has not every name of the project. */
type TypesOfNames = ReadonlyMap<string, PropertyTypes> | undefined;

export interface Facts {
  types: TypesOfNames;
  hasDeletions: boolean;
}

/** A question, and all that are asked with it. */
type Questions = readonly [Question, ...Question[]];

interface Sources {
  stored: Stored;
  together: AskedTogether;
  deadline: Deadline;
}

/** Sets of names: of a board some 30 KB at most. */
const maxKnown = 1_000;

export class KnownFacts {
  readonly #runs: InsightRuns;
  readonly #types = new Map<string, TypesOfNames>();

  constructor(runs: InsightRuns) {
    this.#runs = runs;
  }

  /** As they were read last; undefined where one of them was not, of late. */
  last(questions: Questions): Facts | undefined {
    const [own] = questions;
    const names = shownProperties(questions);
    const key = keyOf(own.projectId, names);
    const hasDeletions = countsUsers(own) ? this.#runs.hadDeletions(own.projectId) : true;
    const areKnown = names.length === 0 || this.#types.has(key);
    if (!areKnown || hasDeletions === undefined) return undefined;
    return { types: this.#types.get(key), hasDeletions };
  }

  /** Throws as readPropertyTypes and `stored` do. */
  async now(questions: Questions, { stored, together, deadline }: Sources): Promise<Facts> {
    const [own] = questions;
    const names = shownProperties(questions);
    const reads = this.#runs.smallReads(own.projectId);
    const [types, hasDeletions] = await Promise.all([
      together.types.get(JSON.stringify(names), deadline.signal, () =>
        typesOf(reads, own, names, deadline),
      ),
      this.#hasDeletions(own, stored, deadline),
    ]);
    if (names.length > 0) setBounded(this.#types, keyOf(own.projectId, names), types, maxKnown);
    return { types, hasDeletions };
  }

  /** What was deleted stays deleted. */
  async #hasDeletions(own: Question, stored: Stored, { signal }: Deadline): Promise<boolean> {
    if (!countsUsers(own) || this.#runs.hadDeletions(own.projectId) === true) return true;
    return (await unlessLeft(stored.seen(), signal)).hasDeletions;
  }
}

/** Whether a statement is the same with either. */
export function areAlike(one: Facts, other: Facts): boolean {
  return textOf(one) === textOf(other);
}

function textOf({ types, hasDeletions }: Facts): string {
  const entries = types && [...types].map(([name, found]) => [name, [...found].sort()]);
  return JSON.stringify([entries, hasDeletions]);
}

function keyOf(projectId: string, names: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([projectId, names]))
    .digest('base64');
}

async function typesOf(
  reads: RowReader,
  { projectId }: Question,
  names: readonly string[],
  deadline: Deadline,
): Promise<TypesOfNames> {
  return names.length === 0 ? undefined : readPropertyTypes(reads, projectId, names, deadline);
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
