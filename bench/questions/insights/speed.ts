// Every kind of question over 20 million events, warm: asked of the service, as the plainest SQL for the same answer on
// the same rows, and as the plainest SQL on the layout of a well-known product family. They take turns, and all three
// answer the same. The service finds past days kept, as in every question that was asked before; beside it stands what
// it takes where no day is.

import { createHash } from 'node:crypto';
import { systemClock } from '../../../platform/clock.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Report, type Table } from '../../bench.ts';
import { runStatement } from '../../harness/engine/engine-statement.ts';
import { checkSame } from '../../harness/insights/answers.ts';
import { askEngine, askQuestion } from '../../harness/insights/ask.ts';
import { boardAskedMs, boardDays, openBoard } from '../../harness/insights/board.ts';
import { ourLayout } from '../../harness/insights/layout.ts';
import { makePeer, peerLayout } from '../../harness/insights/peer-layout.ts';
import type { AnswerRow, Asked, Question } from '../../harness/insights/question.ts';
import { asksOf, questions, untilDaysMayBeKept } from '../../harness/insights/questions.ts';
import { rangeOf, storedBytes, turned } from '../../harness/insights/stored-range.ts';
import { median } from '../../harness/pairs.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { withShop } from '../../harness/shop/stored-shop.ts';
import { withHighestMiB } from '../../harness/usage.ts';

type Side = 'ours' | 'plain' | 'peer' | 'anew';

interface Measured {
  question: Question;
  rows: number;
  ms: Record<Side, number[]>;
}

export const insightsBench: Bench = {
  name: 'insights',
  question: 'How soon is a question answered over 20 million events?',
  async run(mode, session) {
    const shop = shopOf(mode, systemClock.nowMs());
    return withShop(shop, mode, session, async (stack) => {
      await makePeer(stack);
      const [{ measured, board }, highest] = await withHighestMiB(stack, async () => ({
        measured: await measureAll(stack, shop.endMs, mode),
        board: await measureBoard(stack, shop.endMs, mode),
      }));
      const tables = [
        ...speedTables(measured),
        meansTable(measured, highest),
        boardTable(board),
        await storedBytes(stack),
      ];
      const answers = measured.map(({ question, rows }) => [question.name, rows]);
      const hash = createHash('sha256').update(JSON.stringify(answers));
      return { tables, resultHash: hash.digest('hex') } satisfies Report;
    });
  },
};

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

async function measureAll(stack: Stack, endMs: number, mode: Mode): Promise<Measured[]> {
  await warmUp(stack, endMs, mode);
  const measured: Measured[] = [];
  for (const question of questions) measured.push(await measure(stack, question, endMs, mode));
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
    check(answer.length > 0, `${question.name} has an answer`);
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

/** A turn of the other half of a day's quarters of an hour. */
const halfOfADay = 48;

/** The next question counts all days, and keeps them. Days of profiles that are kept twice would be read twice. */
async function forgetDays(stack: Stack): Promise<void> {
  await runStatement(stack, 'TRUNCATE TABLE kept_days');
  await runStatement(stack, 'TRUNCATE TABLE kept_profile_days');
}

/** Milliseconds of each rendering, with days kept and without. */
async function measureBoard(
  stack: Stack,
  endMs: number,
  mode: Mode,
): Promise<Record<'kept' | 'anew', number[]>> {
  const { warmUps, counted } = asksOf[mode];
  const render = await openBoard(stack);
  const range = await rangeOf(stack, boardDays, endMs);
  const ms: Record<'kept' | 'anew', number[]> = { kept: [], anew: [] };
  for (const side of ['kept', 'anew'] as const) {
    for (let turn = 0; turn < warmUps + counted; turn++) {
      if (side === 'anew') await forgetDays(stack);
      const startMs = performance.now();
      await render(turned(range, side === 'anew' ? halfOfADay + turn : turn));
      if (turn >= warmUps) ms[side].push(performance.now() - startMs);
      if (turn === 0) await untilDaysMayBeKept(mode);
    }
  }
  return ms;
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
      return question.rowsOf(await askQuestion(stack, question, asked));
    case 'plain':
      return askEngine(stack, question, ourLayout(stack.projectId), asked);
    case 'peer':
      return askEngine(stack, question, peerLayout(stack.projectId), asked);
    default:
      return side satisfies never;
  }
}

function speedTables(measured: readonly Measured[]): Table[] {
  const [asked, others] = [true, false].map((isAsked) =>
    measured.filter(({ question }) => (question.askedMs !== undefined) === isAsked),
  );
  const title = 'Milliseconds until the answer, warm; ratios are medians of the pairs';
  return [
    speedTable(title, asked ?? []),
    speedTable('The same of questions for which no time is asked', others ?? []),
  ];
}

function speedTable(title: string, measured: readonly Measured[]): Table {
  return {
    title,
    columns: [
      'question',
      'asked ms',
      'p50 ms',
      'least ms',
      'of asked',
      'plain ms',
      'peer ms',
      'of plain',
      'anew ms',
      'peer / ours',
      'rollup',
      'rows',
    ],
    rows: measured.map(({ question, rows, ms }) => {
      const ours = median(ms.ours);
      const { askedMs } = question;
      return [
        question.name,
        ...[askedMs === undefined ? '' : String(askedMs), ours.toFixed(1)],
        Math.min(...ms.ours).toFixed(1),
        askedMs === undefined ? '' : (ours / askedMs).toFixed(2),
        ...[median(ms.plain).toFixed(1), median(ms.peer).toFixed(1)],
        ...[ratio(ms.ours, ms.plain).toFixed(2), median(ms.anew).toFixed(1)],
        ratio(ms.peer, ms.ours).toFixed(2),
        ...[question.byRollup ? 'yes' : 'no', String(rows)],
      ];
    }),
  };
}

function meansTable(measured: readonly Measured[], highestMiB: number): Table {
  const mean = (side: 'ours' | 'anew'): string => {
    const logs = measured.map(({ ms }) => Math.log(ratio(ms.peer, ms[side])));
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

function boardTable({ kept, anew }: Record<'kept' | 'anew', readonly number[]>): Table {
  return {
    title: 'The overview board: all tiles, with the range before',
    columns: ['board', 'asked ms', 'board p50 ms', 'least ms', 'anew ms'],
    rows: [
      [
        ...['overview', String(boardAskedMs), median(kept).toFixed(1)],
        ...[Math.min(...kept).toFixed(1), median(anew).toFixed(1)],
      ],
    ],
  };
}

/** The median of the pairs' ratios. */
function ratio(over: readonly number[], under: readonly number[]): number {
  return median(over.map((value, index) => value / (under[index] ?? Number.NaN)));
}
