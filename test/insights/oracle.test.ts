// Generated questions over a generated project, answered by the product as it answers anybody, by each source of its
// ladder that does not refuse them, by rows of events alone, and by DuckDB from the events as they were sent.
// MILLRACE_ORACLE_QUESTIONS sets the number of questions, MILLRACE_ORACLE_SEED what is drawn.
// Takes some 790 seconds.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { oracleAnswer } from '../harness/insights/oracle/answer.ts';
import type { Part } from '../harness/insights/oracle/part.ts';
import { bucketsOf } from '../harness/insights/oracle/statement/incomplete.ts';
import { Tables } from '../harness/insights/oracle/tables.ts';
import { listedPersons, pointsOf } from '../harness/insights/persons/number-points.ts';
import { personsBehind } from '../harness/insights/persons/persons-behind.ts';
import {
  type GeneratedProject,
  playMore,
  playProject,
} from '../harness/insights/project/generated-project.ts';
import { Play } from '../harness/insights/project/play.ts';
import { featuresOf } from '../harness/insights/questions/coverage.ts';
import {
  allQuestions,
  leastOfEach,
  wanted,
} from '../harness/insights/questions/derived/all-questions.ts';
import { countsOf, lacking } from '../harness/insights/questions/derived/topped-up.ts';
import { difference } from '../harness/insights/questions/difference.ts';
import { ForcedAnswers, forcedNeeds } from '../harness/insights/questions/forced-answers.ts';
import { plainQuestions } from '../harness/insights/questions/plain-questions.ts';
import { productAnswer } from '../harness/insights/questions/product-answer.ts';
import { type Question, requestOf } from '../harness/insights/questions/question.ts';
import { type Stack, startStack } from '../harness/servers/stack.ts';

const count = Number(process.env['MILLRACE_ORACLE_QUESTIONS'] ?? 670);
const seed = Number(process.env['MILLRACE_ORACLE_SEED'] ?? 1);
const people = 150;
/** A range may have too few whole days for some sources. */
const plainRanges = 14;
/** A visit, or the 24 hours of a return, may go on after a range. */
const longOverMs = 3 * dayMs;
/** Differences that a failure shows. */
const shown = 10;
/** Questions that are asked before and after a change: no kept answer may outlive it. */
const askedAgain = 12;

let stack: Stack;
let play: Play;
let tables: Tables;
let forced: ForcedAnswers;
let project: GeneratedProject;
let questions: Question[];
/** The oracle's answers to what is asked more than once. */
const answers = new Map<Question, Promise<Part>>();
beforeAll(async () => {
  stack = await startStack({ env: { MILLRACE_READS_PER_SECOND: '0' } });
  play = new Play(stack);
  project = await playProject(play, seed, people);
  tables = await Tables.create(await play.known());
  forced = new ForcedAnswers(stack);
  questions = allQuestions(seed, project, count);
});
afterAll(async () => {
  tables?.close();
  await forced?.stop();
  await stack?.stop();
});

describe(`${count} generated questions (seed ${seed})`, () => {
  it('ask for everything at least ten times, and for each new member twenty times', () => {
    expect(lacking(countsOf(questions, featuresOf), wanted)).toEqual([]);
  });

  it('have the same answer from the sent events', {
    timeout: 600_000 + count * 2_000,
  }, async () => {
    const found = await differences(questions, async (question) => differenceOf(tables, question));
    expect(found).toEqual([]);
  });

  it('have the same answer from each source that does not refuse them, and from rows of events', {
    timeout: 600_000 + count * 5_000,
  }, async () => {
    // Whatever had been received by a moment, only rows of events tell.
    const current = questions.filter(({ asOfMs }) => asOfMs === undefined);
    const some = [...current, ...plainQuestions(questions, plainRanges)];
    const found = await differences(some, async (question) => {
      const expected = await expectedOf(tables, question, forced.untilMs);
      for (const one of forced.namesOf(question, { isAsked: questions.includes(question) })) {
        const different = difference(expected, await forced.answer(one, question));
        if (different !== undefined) return `from ${one.name} ${different}`;
      }
      return undefined;
    });
    expect(found).toEqual([]);
    const rare = forcedNeeds.filter((need) => (forced.answered.get(need) ?? 0) < leastOfEach);
    expect(rare.map((need) => `${need}: ${forced.answered.get(need) ?? 0}`)).toEqual([]);
  });

  it('name the persons of the sent events behind each kind of number', async () => {
    const listed = new Map<string, number>();
    const zone = 'Europe/Berlin';
    const [season = expect.fail('no season')] = project.seasons;
    const asked = {
      type: 'TRENDS',
      timezone: zone,
      fromMs: season.fromMs,
      toMs: season.toMs,
    } as const;
    const starts = (await bucketsOf(tables, asked)).map(({ start }) => start);
    for (const one of pointsOf(season, zone, starts.length)) {
      const expected = await personsBehind(tables, one.question, one.point);
      const found = await listedPersons(stack, one, starts);
      expect(found, JSON.stringify(one)).toEqual(expected);
      listed.set(one.point.of, (listed.get(one.point.of) ?? 0) + found.length);
    }
    expect([...listed].filter(([, persons]) => persons < 5)).toEqual([]);
    expect([...listed.keys()]).toEqual(['bar', 'step', 'cell', 'state', 'row']);
  });

  it('have another answer after more events, a merge, traits and a deletion', async () => {
    const some = questions.filter(({ asOfMs }) => asOfMs === undefined).slice(0, askedAgain);
    await differences(some, async (question) => {
      await productAnswer(stack, question);
      return undefined;
    });
    await playMore(play, seed, project);
    const later = await Tables.create(await play.known());
    try {
      const found = await differences(some, async (question) => differenceOf(later, question));
      expect(found).toEqual([]);
    } finally {
      later.close();
    }
  });

  it('are answered with all that was accepted before', async () => {
    const [question = expect.fail('no question')] = questions;
    const { completeUntilMs } = await productAnswer(stack, question);
    expect(completeUntilMs).toBeGreaterThan(project.cutsMs.at(-1) ?? Infinity);
    expect(completeUntilMs).toBeLessThanOrEqual(Date.now());
  });
});

/** What is long over has the same answer whenever it is asked, but for who may still convert. */
function expectedOf(known: Tables, question: Question, untilMs: number): Promise<Part> {
  const isOver = question.type !== 'FUNNEL' && question.toMs + longOverMs <= forced.untilMs;
  if (known !== tables || !isOver) return oracleAnswer(known, question, untilMs);
  const answer = answers.get(question) ?? oracleAnswer(known, question, untilMs);
  answers.set(question, answer);
  return answer;
}

async function differenceOf(known: Tables, question: Question): Promise<string | undefined> {
  const answer = await productAnswer(stack, question);
  const { result, leftOut, identitiesAreCurrent, completeUntilMs } = answer;
  const expected = await expectedOf(known, question, completeUntilMs);
  const isAsOf = question.asOfMs !== undefined;
  return (
    difference(expected, { result, leftOut }) ??
    difference(isAsOf, identitiesAreCurrent, 'identitiesAreCurrent')
  );
}

/** A line for each question that `compare` finds different, or that fails; two are under way at once. */
async function differences(
  asked: readonly Question[],
  compare: (question: Question) => Promise<string | undefined>,
): Promise<string[]> {
  const found: string[] = [];
  const rest = asked.values();
  const lane = async (): Promise<void> => {
    for (const question of rest) {
      const line = await withinMinute(() =>
        compare(question).catch((error: unknown) => String(error)),
      );
      if (line === undefined) continue;
      if (found.length < shown) found.push(`${line}\n${JSON.stringify(requestOf(question))}`);
      else found[shown] = 'and more';
    }
  };
  await Promise.all([lane(), lane()]);
  return found;
}

/** What may still convert changes with the minute: a difference between two minutes is looked for again. */
async function withinMinute(
  compare: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const minute = (): number => Math.floor(Date.now() / 60_000);
  const before = minute();
  const line = await compare();
  return line === undefined || minute() === before ? line : compare();
}
