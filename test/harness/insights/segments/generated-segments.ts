// Generated segments, and generated questions that name them: as a filter, as a breakdown, as a group or a node.

import { dayMs } from '../../../../platform/clock.ts';
import { kinds, traits } from '../project/catalogue.ts';
import type { GeneratedProject } from '../project/generated-project.ts';
import { createDeck, type Deal } from '../questions/deck.ts';
import { toppedUp, type Wanted } from '../questions/derived/topped-up.ts';
import type { EventFilter, Filter } from '../questions/event-filter.ts';
import type { QuestionSource } from '../questions/generated-questions.ts';
import type { Question } from '../questions/question.ts';
import { createDraw, type Draw } from '../random.ts';
import type { ProfileTest, Segment, TestGroup } from './segment.ts';

export const testNames = ['trait', 'firstSeen', 'did', 'did', 'did', 'listed'] as const;

const forms = [
  ...['TRENDS', 'SEGMENTATION', 'VISITS', 'FUNNEL', 'RETENTION', 'LIFECYCLE', 'STICKINESS'],
  ...['USER_FLOW', 'TOP_K'],
];
const tests = ['trait', 'firstSeen', 'did', 'listed', 'negated'].map((name) => `test ${name}`);
/** As `segmentFeatures` names them. */
export const wantedOfSegments: Wanted = new Map([
  ...forms.flatMap((form) => [`filter ${form}`, `split ${form}`].map((one) => [one, 2] as const)),
  ...[...tests, 'did at least', 'did at most', 'not in'].map((one) => [one, 20] as const),
  ...forms.map((form) => [`not in ${form}`, 1] as const),
]);
/** Further draws for what is too rare: a bound for what is never drawn. */
const mostFurther = 600;

export class SegmentSource {
  readonly #draw: Draw;
  /** Drawn apart, so that it changes nothing else. */
  readonly #place: Deal<'in' | 'not in' | 'both'>;
  readonly #project: GeneratedProject;
  readonly #profileIds: readonly string[];
  readonly #questions: QuestionSource;
  readonly #test: Deal<(typeof testNames)[number]>;
  readonly #when: Deal<'beforeMs' | 'sinceMs' | 'lastDays'>;
  readonly #times: Deal<'once' | 'several' | 'never' | 'few'>;

  constructor(
    seed: number,
    project: GeneratedProject,
    questions: QuestionSource,
    profileIds: readonly string[],
  ) {
    this.#draw = createDraw(seed);
    this.#place = createDeck(createDraw(seed + 1), ['in', 'not in', 'both', 'in', 'not in']);
    this.#project = project;
    this.#questions = questions;
    this.#profileIds = profileIds;
    this.#test = createDeck(this.#draw, testNames);
    this.#when = createDeck(this.#draw, ['beforeMs', 'sinceMs', 'lastDays'] as const);
    this.#times = createDeck(this.#draw, ['once', 'several', 'never', 'few'] as const);
  }

  /** As many as are asked for, and more of what `wantedOfSegments` has and too few of them ask for. */
  questions(count: number): Question[] {
    const drawn = Array.from({ length: count }, () => this.question());
    const more = () => [this.question()];
    return toppedUp(drawn, wantedOfSegments, {
      ...{ featuresOf: segmentFeatures, more, rounds: mostFurther },
    });
  }

  /** Each names a segment at least. */
  question(): Question {
    const draw = this.#draw;
    const question = this.#questions.question();
    const { rollingDays, cumulative, type, events = [] } = question;
    const isOfWindows =
      type === 'TRENDS' && (rollingDays || cumulative || events.some((one) => one.rollingDays));
    if (isOfWindows) return this.#filtered(question, [this.#segment()]);
    const split = draw.chance(0.6) ? this.#split(question) : question;
    if (split !== question && draw.chance(0.6)) return split;
    const segments = [this.#segment(), ...(draw.chance(0.2) ? [this.#segment()] : [])];
    return this.#filtered(split, segments);
  }

  #filtered(question: Question, segments: Segment[]): Question {
    switch (this.#place()) {
      case 'in':
        return { ...question, segments };
      case 'not in':
        return { ...question, notInSegments: segments };
      case 'both':
        return { ...question, segments: segments.slice(1), notInSegments: segments.slice(0, 1) };
    }
  }

  #split(question: Question): Question {
    const { type, topK, userFlow, breakdowns = [] } = question;
    const segment = this.#segment();
    const property = `segment.${segment.id}`;
    const splitBy = [segment];
    if (type === 'USER_FLOW') {
      return {
        ...question,
        splitBy,
        userFlow: { ...userFlow, nodeKind: 'PROPERTY', nodeProperty: property },
      };
    }
    if (type !== 'TOP_K') {
      return { ...question, splitBy, breakdowns: [...breakdowns.slice(0, 1), property] };
    }
    if (topK?.dimension !== 'PROPERTY') return question;
    return { ...question, splitBy, topK: { ...topK, property } };
  }

  #segment(): Segment {
    const draw = this.#draw;
    const groups = this.#several(1, 2, () => this.#group());
    return { id: draw.uuid(), groups, operator: draw.pick(['AND', 'OR']) };
  }

  #group(): TestGroup {
    const draw = this.#draw;
    const tests = this.#several(1, 2, () => this.#profileTest());
    return { tests, operator: draw.pick(['AND', 'OR']), negated: draw.chance(0.2) };
  }

  #profileTest(): ProfileTest {
    const draw = this.#draw;
    const negated = draw.chance(0.2);
    switch (this.#test()) {
      case 'trait':
        return { trait: this.#trait(), negated };
      case 'firstSeen':
        return { firstSeen: this.#firstSeen(), negated };
      case 'listed':
        return { listed: this.#several(1, 40, () => draw.pick(this.#profileIds)), negated };
      case 'did':
        return { did: this.#did(), negated };
    }
  }

  #trait(): Filter {
    const property = this.#draw.pick(traits);
    const filter = this.#questions.filter();
    return { ...filter, property, source: 'PROFILE' };
  }

  #firstSeen(): NonNullable<ProfileTest['firstSeen']> {
    const draw = this.#draw;
    const { changeMs } = draw.pick(this.#project.seasons);
    const ms = changeMs + draw.below(dayMs) - dayMs / 2;
    const when = this.#when();
    if (when === 'lastDays') return { lastDays: draw.pick([1, 3, 30, 400]) };
    return when === 'beforeMs' ? { beforeMs: ms } : { sinceMs: ms };
  }

  #did(): NonNullable<ProfileTest['did']> {
    const draw = this.#draw;
    const event: EventFilter = draw.chance(0.5)
      ? { kind: draw.pick(kinds.slice(0, 3)) }
      : draw.chance(0.5)
        ? {}
        : { kinds: [...kinds.slice(0, 2)], filters: [this.#questions.filter()] };
    const lastDays = draw.chance(0.5) ? {} : { lastDays: draw.pick([1, 2, 7, 30, 400]) };
    const times = {
      once: { atLeast: 1 },
      several: { atLeast: draw.pick([2, 3, 5]) },
      never: { atMost: 0 },
      few: { atMost: draw.pick([1, 2, 4]) },
    }[this.#times()];
    return { event, ...times, ...lastDays };
  }

  #several<T>(least: number, most: number, one: () => T): T[] {
    return Array.from({ length: least + this.#draw.below(most - least + 1) }, one);
  }
}

/** What questions with segments ask for, such as `filter FUNNEL` and `test did`. */
export function segmentFeatures({
  type,
  session,
  segments = [],
  notInSegments = [],
  splitBy = [],
}: Question): string[] {
  const form = session === undefined ? type : 'VISITS';
  const tests = [...segments, ...notInSegments, ...splitBy].flatMap(({ groups }) =>
    groups.flatMap(({ tests }) => tests),
  );
  return [
    ...(segments.length + notInSegments.length > 0 ? [`filter ${form}`] : []),
    ...(notInSegments.length > 0 ? [`not in ${form}`, 'not in'] : []),
    ...(splitBy.length > 0 ? [`split ${form}`] : []),
    ...tests.flatMap((test) => Object.keys(test).map((name) => `test ${name}`)),
    ...tests.flatMap(({ did }) =>
      did === undefined
        ? []
        : [`did ${Object.keys(did).includes('atLeast') ? 'at least' : 'at most'}`],
    ),
  ];
}
