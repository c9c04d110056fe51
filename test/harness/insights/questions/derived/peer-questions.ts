// Questions with moving averages, with the events of each user, and with steps that may be skipped, made of generated
// ones. Drawn apart, so that they change none of the others.

import { kinds } from '../../project/catalogue.ts';
import type { GeneratedProject } from '../../project/generated-project.ts';
import { createDraw, type Draw } from '../../random.ts';
import { QuestionSource } from '../generated-questions.ts';
import type { Question } from '../question.ts';
import { mayBeTooLong } from './revenue-questions.ts';

/** As many of each: averages are of series and of visits. */
const makers: readonly ((draw: Draw, drawn: Question) => Question | undefined)[] = [
  ...[averaged, averaged],
  perUser,
  withOptionalSteps,
];
/** More than one in so many can be made into each. */
const drawsOfEach = 200;

/** `count` of each, or fewer where none is found for long; those of `revenue` may be averaged, too. */
export function peerQuestions(
  seed: number,
  project: GeneratedProject,
  { count, revenue }: { count: number; revenue: readonly Question[] },
): Question[] {
  const draw = createDraw(seed + 2);
  const source = new QuestionSource(seed + 2, project);
  const ofSeries = makers.flatMap((maker) => {
    const made: Question[] = [];
    for (let left = count * drawsOfEach; left > 0 && made.length < count; left--) {
      const question = maker(draw, source.question());
      if (question !== undefined) made.push(question);
    }
    return made;
  });
  const ofMoney = revenue.flatMap((one) => averaged(draw, one) ?? []);
  return [...ofSeries, ...ofMoney.slice(0, count)];
}

function averaged(draw: Draw, drawn: Question): Question | undefined {
  const { type, rollingDays = 0, cumulative = false, events = [], granularity = 'DAY' } = drawn;
  const isRolling = rollingDays > 0 || events.some((one) => (one.rollingDays ?? 0) > 1);
  if ((type !== 'TRENDS' && type !== 'REVENUE') || isRolling || cumulative) return undefined;
  const isLong = granularity === 'WEEK' || granularity === 'MONTH';
  const movingAverage = draw.pick(isLong ? [2, 3, 5] : [2, 3, 7, 28, 90]);
  return mayBeTooLong(drawn, movingAverage) ? undefined : { ...drawn, movingAverage };
}

function perUser(draw: Draw, drawn: Question): Question | undefined {
  if (drawn.type !== 'STICKINESS') return undefined;
  const bounds = draw.pick([[], [1], [1, 2], [1, 2, 3, 6, 11], [1, 7, 50, 1_000_000]]);
  return { ...drawn, eventsPerUser: bounds.length === 0 ? {} : { bounds } };
}

/** A step more that may be skipped, or two, between those that were drawn. */
function withOptionalSteps(draw: Draw, drawn: Question): Question | undefined {
  const { type, funnel = {}, events = [] } = drawn;
  const { order = 'ORDERED', exclusions = [], overTime: _, ...same } = funnel;
  if (type !== 'FUNNEL' || order !== 'ORDERED') return undefined;
  const at = 1 + draw.below(events.length - 1);
  const count = draw.chance(0.4) ? 2 : 1;
  const more = Array.from({ length: count }, () => {
    const { event = {} } = draw.pick(events);
    return { event: draw.chance(0.5) ? event : { kind: draw.pick(kinds.slice(0, 3)) } };
  });
  // Steps are counted with those that came in between.
  const moved = (step: number | undefined): number | undefined =>
    step !== undefined && step > at ? step + count : step;
  return {
    ...drawn,
    events: [...events.slice(0, at), ...more, ...events.slice(at)],
    funnel: {
      ...same,
      optionalSteps: more.map((__, index) => at + 1 + index),
      exclusions: exclusions.map(({ event, fromStep, toStep }) => {
        const [from, to] = [moved(fromStep), moved(toStep)];
        return { event, ...(from && { fromStep: from }), ...(to && { toStep: to }) };
      }),
    },
  };
}
