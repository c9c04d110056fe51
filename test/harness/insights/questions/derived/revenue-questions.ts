// Questions about revenue, made of generated ones for series: their ranges, zones, conditions, groups and formulas,
// over payments. Drawn apart, so that they change none of the others.

import type { GeneratedProject } from '../../project/generated-project.ts';
import { createDraw } from '../../random.ts';
import { createDeck } from '../deck.ts';
import { QuestionSource } from '../generated-questions.ts';
import { type EventQuery, type Question, revenueMeasures, type Unit } from '../question.ts';

/** At least so long. */
const unitMs: Record<Unit, number> = {
  ...{ MINUTE: 60_000, HOUR: 3_600_000, DAY: 23 * 3_600_000 },
  ...{ WEEK: 7 * 23 * 3_600_000, MONTH: 28 * 23 * 3_600_000 },
};
const mostPoints = 90_000;
const currencies = 20;

/** Whether it could have more points than an answer may, with so many buckets more. */
export function mayBeTooLong(question: Omit<Question, 'type'>, earlier = 0): boolean {
  const { fromMs, toMs, granularity = 'DAY', breakdowns = [], breakdownLimit = 10 } = question;
  const { events = [], formulas = [] } = question;
  const buckets = (toMs - fromMs) / unitMs[granularity] + 2 + earlier;
  const groups = breakdowns.length === 0 ? 1 : breakdownLimit + 1;
  return (events.length + formulas.length) * currencies * buckets * groups > mostPoints;
}

/** More than one in so many can be one of revenue. */
const drawsOfEach = 200;

/** As many as are asked for, or fewer where none is found for long. */
export function revenueQuestions(
  seed: number,
  project: GeneratedProject,
  count: number,
): Question[] {
  const draw = createDraw(seed + 1);
  const measure = createDeck(draw, revenueMeasures);
  const source = new QuestionSource(seed + 1, project);
  const questions: Question[] = [];
  for (let left = count * drawsOfEach; left > 0 && questions.length < count; left--) {
    const drawn = source.question();
    const { type, session, touch: _, rollingDays: __, cumulative: ___, ...rest } = drawn;
    const { events = [] } = rest;
    const isOfSeries = type === 'TRENDS' || type === 'SEGMENTATION';
    if (!isOfSeries || session || mayBeTooLong(rest)) continue;
    const paid = events.map(({ event = {} }): EventQuery => {
      const property = draw.chance(0.2) ? { aggregationProperty: 'ratio' } : {};
      return { event, revenue: measure(), ...property };
    });
    const cumulative = draw.chance(0.45) ? { cumulative: true } : {};
    questions.push({ ...rest, type: 'REVENUE', events: paid, ...cumulative });
  }
  return questions;
}
