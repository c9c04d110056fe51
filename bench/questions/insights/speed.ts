// Every kind of question over 20 million events, warm: asked of the service, as the plainest SQL for the same answer on
// the same rows, and as the plainest SQL on the layout of a well-known product family. They take turns, and all three
// answer the same. The service finds past days kept, as in every question that was asked before; beside it stands what
// it takes where no day is.

import { createHash } from 'node:crypto';
import { systemClock } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Report, type Table } from '../../bench.ts';
import { checkSame } from '../../harness/insights/answers.ts';
import { askEngine, askPersons, askQuestion } from '../../harness/insights/ask.ts';
import { ourLayout } from '../../harness/insights/layout.ts';
import { memberQuestions } from '../../harness/insights/members/members.ts';
import { makePeer, peerLayout } from '../../harness/insights/peer-layout.ts';
import { numberQuestions } from '../../harness/insights/persons/number-questions.ts';
import type { AnswerRow, Asked, Question } from '../../harness/insights/question.ts';
import {
  asksOf,
  forgetDays,
  halfOfADay,
  questions,
  untilDaysMayBeKept,
} from '../../harness/insights/questions.ts';
import {
  keepSegments,
  segmentQuestions,
} from '../../harness/insights/segments/segment-questions.ts';
import { rangeOf, storedBytes, turned } from '../../harness/insights/stored-range.ts';
import { median, ratioOf } from '../../harness/pairs.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { withShop } from '../../harness/shop/stored-shop.ts';
import { withHighestMiB } from '../../harness/usage.ts';

type Side = 'ours' | 'plain' | 'peer' | 'anew';

interface Measured {
  question: Question;
  rows: number;
  ms: Record<Side, number[]>;
}

export const insightsBench = benchOf(
  'insights',
  'How soon is a question answered over 20 million events?',
  [...questions, ...segmentQuestions],
);

export const insightsPersonsBench = benchOf(
  'insights-persons',
  'How soon are the first hundred persons behind a number of 20 million events listed?',
  numberQuestions,
);

export const insightsMembersBench = benchOf(
  'insights-members',
  'How soon are the members of these questions answered?',
  memberQuestions,
);

function benchOf(name: string, question: string, asked: readonly Question[]): Bench {
  const run: Bench['run'] = async (mode, session) => {
    const shop = shopOf(mode, systemClock.nowMs());
    return withShop(shop, mode, session, async (stack) => {
      await makePeer(stack);
      const [measured, highest] = await withHighestMiB(stack, () =>
        measureAll(stack, asked, shop.endMs, mode),
      );
      const tables = [
        speedTable(measured),
        meansTable(measured, highest),
        await storedBytes(stack),
      ];
      const answers = measured.map(({ question, rows }) => [question.name, rows]);
      const hash = createHash('sha256').update(JSON.stringify(answers));
      return { tables, resultHash: hash.digest('hex') } satisfies Report;
    });
  };
  return { name, question, run };
}

/** Of a process that has just started: V8 compiles what has run so often. */
const answersUntilWarm: Record<Mode, number> = { smoke: 0, real: 60 };

async function warmUp(stack: Stack, endMs: number, mode: Mode): Promise<void> {
  const [first] = questions;
  if (first === undefined) return;
  const range = await rangeOf(stack, first.days, endMs);
  // Nothing of the first question is kept, so that it takes the way of each of the others.
  for (let turn = 0; turn < answersUntilWarm[mode]; turn++) {
    await askQuestion(stack, first, turned(range, turn));
  }
}

async function measureAll(
  stack: Stack,
  asked: readonly Question[],
  endMs: number,
  mode: Mode,
): Promise<Measured[]> {
  await keepSegments(stack);
  await warmUp(stack, endMs, mode);
  const measured: Measured[] = [];
  for (const question of asked) measured.push(await measure(stack, question, endMs, mode));
  return measured;
}

async function measure(
  stack: Stack,
  question: Question,
  endMs: number,
  mode: Mode,
): Promise<Measured> {
  const { warmUps, counted } = asksOf[mode];
  const range = await rangeOf(stack, question.days, endMs);
  const ms: Record<Side, number[]> = { ours: [], plain: [], peer: [], anew: [] };
  const timed = async (side: Side, turn: number, asked: Asked): Promise<AnswerRow[]> => {
    const startMs = performance.now();
    const rows = await ask(stack, side, question, asked);
    if (turn >= warmUps) ms[side].push(performance.now() - startMs);
    return rows;
  };
  let answer: AnswerRow[] = [];
  for (let turn = 0; turn < warmUps + counted; turn++) {
    const asked = turned(range, turn);
    const ours = await timed('ours', turn, asked);
    answer = await timed('plain', turn, asked);
    // A small shop may have nobody behind a number.
    const mayBeEmpty = mode === 'smoke' && question.persons !== undefined;
    check(mayBeEmpty || answer.length > 0, `${question.name} has an answer`);
    checkSame(`${question.name}, ours and plain`, ours, answer);
    const peer = await timed('peer', turn, asked);
    checkSame(`${question.name}, peer and plain`, peer, answer);
    if (turn === 0) await untilDaysMayBeKept(mode);
  }
  // Afterwards: the engine would clean up what was kept beside the other questions.
  for (let turn = 0; turn < warmUps + counted; turn++) {
    await forgetDays(stack);
    // Another range, so that the whole answer is not kept either.
    await timed('anew', turn, turned(range, halfOfADay + turn));
  }
  return { question, rows: answer.length, ms };
}

async function ask(
  stack: Stack,
  side: Side,
  question: Question,
  asked: Asked,
): Promise<AnswerRow[]> {
  switch (side) {
    case 'ours':
    case 'anew':
      return question.rowsOf(await askService(stack, question, asked));
    case 'plain':
      return askEngine(stack, question, ourLayout(stack.projectId), asked);
    case 'peer':
      return askEngine(stack, question, peerLayout(stack.projectId), asked);
    default:
      return side satisfies never;
  }
}

async function askService(stack: Stack, question: Question, asked: Asked): Promise<JsonObject[]> {
  const { persons } = question;
  if (persons === undefined) return askQuestion(stack, question, asked);
  const page = { pageSize: persons.pageSize, point: persons.point(asked) };
  return [await askPersons(stack, question, asked, page)];
}

function speedTable(measured: readonly Measured[]): Table {
  return {
    title: 'Milliseconds until the answer, warm; ratios are medians of the pairs',
    columns: [
      'question',
      'p50 ms',
      'least ms',
      'plain ms',
      'peer ms',
      'of plain',
      'anew ms',
      'anew of plain',
      'peer / ours',
      'days kept',
      'rows',
    ],
    rows: measured.map(({ question, rows, ms }) => [
      ...[question.name, median(ms.ours).toFixed(1), Math.min(...ms.ours).toFixed(1)],
      ...[median(ms.plain).toFixed(1), median(ms.peer).toFixed(1)],
      ...[ratioOf(ms.ours, ms.plain).toFixed(2), median(ms.anew).toFixed(1)],
      ratioOf(ms.anew, ms.plain).toFixed(2),
      ratioOf(ms.peer, ms.ours).toFixed(2),
      ...[question.daysAreKept ? 'yes' : 'no', String(rows)],
    ]),
  };
}

function meansTable(measured: readonly Measured[], highestMiB: number): Table {
  const mean = (side: 'ours' | 'anew'): string => {
    const logs = measured.map(({ ms }) => Math.log(ratioOf(ms.peer, ms[side])));
    return Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length).toFixed(2);
  };
  return {
    title: 'Over all questions',
    columns: [
      ...['peer / ours, geometric mean', 'the same, no day kept'],
      'highest MiB of all processes',
    ],
    rows: [[mean('ours'), mean('anew'), highestMiB.toFixed(0)]],
  };
}
