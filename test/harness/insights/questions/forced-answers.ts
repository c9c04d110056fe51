// The answers of one source of the ladder alone: the same question is put to a read service that has no other source
// besides rows of events.

import { isDeepStrictEqual } from 'node:util';
import { fromJson } from '@bufbuild/protobuf';
import type { RowReader } from '../../../../platform/clickhouse/select-rows.ts';
import { QueryRequestSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Planned, planOf } from '../../../../query/insights/forms/forms.ts';
import type { PropertyTypes } from '../../../../query/insights/read/property-types.ts';
import { readQuestion } from '../../../../query/insights/read/question.ts';
import type { Need, SourceName } from '../../../../query/insights/sources/ladder.ts';
import {
  conditionIn,
  type FindSegment,
  type Segments,
} from '../../../../query/segments/named-segments.ts';
import { type ReadService, startReadService } from '../../services/read-service.ts';
import type { Part } from '../oracle/part.ts';
import { readAnswer } from './product-answer.ts';
import { type Question, requestOf } from './question.ts';

/** The sources that a service has, and whether it finds days kept. */
interface Forced {
  sources: readonly SourceName[];
  isKept: boolean;
}

/** By the name of the source; `events` is every other one left out. */
const ofSources: Record<SourceName, Forced> = {
  event_counts: { sources: ['event_counts'], isKept: false },
  profile_days: { sources: ['profile_days'], isKept: false },
  profile_listing: { sources: ['profile_listing'], isKept: false },
  visits: { sources: ['visits'], isKept: false },
  kept_active_profiles: { sources: ['kept_active_profiles'], isKept: true },
  kept_cells: { sources: ['kept_cells'], isKept: true },
  events: { sources: [], isKept: false },
};
/** Days of what the tables of visits tell are kept, too. */
const forced = new Map<string, Forced>([
  ...Object.entries(ofSources),
  ['visits of kept days', { sources: ['visits', 'kept_cells'], isKept: true }],
]);

/** What is to be shown of each: what it counts. */
const needs = {
  event_counts: ['events', 'events left out'],
  profile_days: ['users', 'users a day', 'events a user'],
  profile_listing: ['first events'],
  visits: ['visits'],
  kept_active_profiles: ['users', 'users a day'],
  kept_cells: ['events', 'visits'],
  events: ['events', 'events a user', 'users', 'users a day', 'users in order', 'visits', 'ways'],
  'visits of kept days': ['visits'],
} satisfies Record<SourceName | 'visits of kept days', readonly Need['count'][]>;
/** As `ForcedAnswers.answered` counts them. */
export const forcedNeeds: readonly string[] = Object.entries(needs).flatMap(([name, counts]) =>
  counts.map((count) => `${name}: ${count}`),
);

/** A property of a column alone: the sources that this lets serve may refuse when the types are known. */
const ofColumn: PropertyTypes = new Set(['column']);
/** Rows are kept whole for a second where their version is as young. */
const secondMs = 1_500;

interface ForcedName {
  name: string;
  /** Of `forcedNeeds`. */
  needs: string[];
}

export class ForcedAnswers {
  readonly #stack: { clickhouseUrl: string; projectId: string };
  readonly #segments: Segments;
  /** All answers are given as of that moment. */
  readonly untilMs = Date.now();
  /** Of sources of which nothing is kept. */
  readonly #services = new Map<string, Promise<ReadService>>();
  /** How many questions each of `forcedNeeds` answered; of kept days, those that were found. */
  readonly answered = new Map<string, number>();

  constructor(stack: { clickhouseUrl: string; projectId: string }, segments: Segments = new Map()) {
    this.#stack = stack;
    this.#segments = segments;
  }

  /**
   * The names under which a part of the question may be answered, and what is counted by each. With `isAsked`, the
   * product's own answer is compared elsewhere: where it comes of the same statement of rows of events, that answer is
   * theirs.
   */
  namesOf(question: Question, { isAsked }: { isAsked: boolean }): ForcedName[] {
    const request = fromJson(QueryRequestSchema, JSON.parse(JSON.stringify(requestOf(question))));
    const types = new Map((question.breakdowns ?? []).map((property) => [property, ofColumn]));
    const checked = readQuestion(this.#stack.projectId, request);
    const asked = { ...checked, conditionOf: conditionIn(this.#segments) };
    const facts = { types, hasDeletions: true };
    const own = isAsked && question.compare === undefined ? planOf(asked, facts) : undefined;
    return [...forced].flatMap(([name, { sources, isKept }]) => {
      const plan = planOf({ ...asked, sources }, facts);
      const { notes } = plan.question;
      const [first] = sources;
      const served = notes.served.filter(({ source }) => first === undefined || source === first);
      if (served.length === 0 || (isKept && notes.dayCells.length === 0)) return [];
      const counted = served.map(({ need }) => `${name}: ${need.split(',')[0]}`);
      const needs = [...new Set(counted)];
      if (own === undefined || !isSameStatement(own, plan)) return [{ name, needs }];
      this.#count(needs);
      return [];
    });
  }

  async answer({ name, needs }: ForcedName, question: Question): Promise<Part> {
    const { sources = [], isKept = false } = forced.get(name) ?? {};
    const [answer, isCounted] = isKept
      ? await this.#fromKept(sources, question)
      : [await this.#once(name, sources, question), true];
    if (isCounted) this.#count(needs);
    return answer;
  }

  async stop(): Promise<void> {
    for (const service of this.#services.values()) await (await service).stop();
  }

  #count(needs: readonly string[]): void {
    for (const need of needs) this.answered.set(need, (this.answered.get(need) ?? 0) + 1);
  }

  async #once(name: string, ladder: readonly SourceName[], question: Question): Promise<Part> {
    const { clickhouseUrl } = this.#stack;
    const completeUntilMs = async () => this.untilMs;
    const service =
      this.#services.get(name) ??
      startReadService({ clickhouseUrl, ladder, completeUntilMs, findSegment: this.#find });
    this.#services.set(name, service);
    return this.#ask(await service, question);
  }

  /**
   * Days are kept for who asks again, whose own statement finds them. Nobody else has asked: no answer is kept whole.
   */
  async #fromKept(
    ladder: readonly SourceName[],
    question: Question,
  ): Promise<[Part, hasFound: boolean]> {
    let nowMs = 0;
    let hasFound = false;
    const reader = (store: RowReader): RowReader => ({
      select(select, onRow) {
        const kept = select.params['kept'];
        hasFound ||= Array.isArray(kept) && kept.length > 0;
        return store.select(select, onRow);
      },
    });
    const { clickhouseUrl } = this.#stack;
    const completeUntilMs = async () => this.untilMs;
    // What is seen of a day is kept once all is stored that was accepted until then.
    const clock = { nowMs: () => this.untilMs };
    const service = await startReadService({
      ...{ clickhouseUrl, ladder, reader, completeUntilMs, clock, nowMs: () => nowMs },
      findSegment: this.#find,
    });
    try {
      await this.#ask(service, question);
      nowMs += secondMs;
      hasFound = false;
      return [await this.#ask(service, question), hasFound];
    } finally {
      await service.stop();
    }
  }

  readonly #find: FindSegment = async (_, id) => this.#segments.get(id);

  async #ask(service: ReadService, question: Question): Promise<Part> {
    const method = 'shared.insights.v1.InsightsService/Query';
    const { projectId } = this.#stack;
    const { status, text } = await service.post(projectId, method, requestOf(question));
    if (status !== 200) throw new Error(`Query: ${status} ${text}`);
    const { result, leftOut } = readAnswer(JSON.parse(text));
    return { result, leftOut };
  }
}

/** Of rows of events alone: tables of sums and kept days may have any rows under the same text. */
function isSameStatement(own: Planned, plan: Planned): boolean {
  const isOfEvents = [own, plan].every(
    ({ question: { notes } }) =>
      notes.dayCells.length === 0 && notes.served.every(({ source }) => source === 'events'),
  );
  return isOfEvents && isDeepStrictEqual(statementOf(own), statementOf(plan));
}

function statementOf({ sql, maxRows, question }: Planned) {
  return { sql, maxRows, params: question.bindings.params };
}
