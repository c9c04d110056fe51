// Every kind of question over 20 million events, warm: asked of the service, as the plainest SQL for the same answer on
// the same rows, and as the plainest SQL on the layout of a well-known product family. They take turns, and all of them
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
import { inFreshZone, rangeOf, storedBytes, turned } from '../../harness/insights/stored-range.ts';
import { median, ratioOf } from '../../harness/pairs.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { withShop } from '../../harness/shop/stored-shop.ts';
import { threadCpuMs, withHighestMiB } from '../../harness/usage.ts';

/** `first` is ours where nobody asked before, `anew` the second time, when all days are counted, kept and answered. */
type Side = 'ours' | 'plain' | 'peer' | 'first' | 'anew';
type BySide = Record<Side, number[]>;

interface Measured {
  question: Question;
  rows: number;
  ms: BySide;
  /** Of the engine without its merges. */
  cpuMs: BySide;
}

export const insightsBench = benchOf(
  'insights',
  'How soon is a question answered over 20 million events?',
  [...questions, ...segmentQuestions],
  ['ours', 'plain', 'peer', 'anew'],
);

export const insightsPersonsBench = benchOf(
  'insights-persons',
  'How soon are the first hundred persons behind a number of 20 million events listed?',
  numberQuestions,
  ['ours', 'plain', 'peer', 'anew'],
);

export const insightsMembersBench = benchOf(
  'insights-members',
  'How soon are the members of these questions answered?',
  memberQuestions,
  ['ours', 'plain', 'first'],
);

function benchOf(
  name: string,
  question: string,
  asked: readonly Question[],
  sides: readonly Side[],
): Bench {
  const run: Bench['run'] = async (mode, session) => {
    const shop = shopOf(mode, systemClock.nowMs());
    return withShop(shop, mode, session, async (stack) => {
      if (sides.includes('peer')) await makePeer(stack);
      const [measured, highest] = await withHighestMiB(stack, () =>
        measureAll(stack, asked, sides, { endMs: shop.endMs, mode }),
      );
      const tables = [
        speedTable(measured, sides),
        ...(sides.includes('peer') ? [meansTable(measured, highest)] : []),
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
  sides: readonly Side[],
  { endMs, mode }: { endMs: number; mode: Mode },
): Promise<Measured[]> {
  await keepSegments(stack);
  await warmUp(stack, endMs, mode);
  const measured: Measured[] = [];
  for (const question of asked) {
    const range = await rangeOf(stack, question.days, endMs);
    const one = await measure(stack, question, { range, sides, mode });
    measured.push(one);
    // All of them take an hour on a busy machine.
    if (mode === 'real') process.stderr.write(`${rowOf(one, sides).join(' | ')}\n`);
  }
  return measured;
}

interface MeasureOptions {
  range: Asked;
  sides: readonly Side[];
  mode: Mode;
}

async function measure(
  stack: Stack,
  question: Question,
  { range, sides, mode }: MeasureOptions,
): Promise<Measured> {
  const { warmUps, counted } = asksOf[mode];
  const ms: BySide = { ours: [], plain: [], peer: [], first: [], anew: [] };
  const cpuMs: BySide = { ours: [], plain: [], peer: [], first: [], anew: [] };
  const timed = async (side: Side, turn: number, asked: Asked): Promise<AnswerRow[]> => {
    const engine = stack.pids().engine;
    const [startMs, startCpuMs] = [performance.now(), threadCpuMs(engine)];
    const rows = await ask(stack, side, question, asked);
    if (turn < warmUps) return rows;
    ms[side].push(performance.now() - startMs);
    cpuMs[side].push(threadCpuMs(engine) - startCpuMs);
    return rows;
  };
  let answer: AnswerRow[] = [];
  // What a project may keep in a day is bounded, and other questions would have taken it.
  await forgetDays(stack);
  for (let turn = 0; turn < warmUps + counted; turn++) {
    const asked = turned(range, turn);
    answer = await timed('plain', turn, asked);
    // A small shop may have nobody behind a number.
    const mayBeEmpty = mode === 'smoke' && question.persons !== undefined;
    check(mayBeEmpty || answer.length > 0, `${question.name} has an answer`);
    for (const side of inTurns.filter((one) => sides.includes(one))) {
      if (side === 'first' && !isAskedFirst(question, turn - warmUps)) continue;
      const found = await timed(side, turn, side === 'first' ? inFreshZone(asked) : asked);
      checkSame(`${question.name}, ${side} and plain`, found, answer);
    }
    if (turn === 0) await untilDaysMayBeKept(mode);
  }
  // Afterwards: the engine would clean up what was kept beside the other questions.
  for (let turn = 0; sides.includes('anew') && turn < warmUps + counted; turn++) {
    await forgetDays(stack);
    // Another range, so that the whole answer is not kept either.
    await timed('anew', turn, turned(range, halfOfADay + turn));
  }
  return { question, rows: answer.length, ms, cpuMs };
}

/** Of a question whose days are kept, in the first of the turns that count. */
const firstAsks = 3;
function isAskedFirst({ daysAreKept }: Question, turn: number): boolean {
  return daysAreKept && turn >= 0 && turn < firstAsks;
}

/** After plain SQL. */
const inTurns: readonly Side[] = ['ours', 'peer', 'first'];

async function ask(
  stack: Stack,
  side: Side,
  question: Question,
  asked: Asked,
): Promise<AnswerRow[]> {
  switch (side) {
    case 'ours':
    case 'first':
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

interface Column {
  name: string;
  /** The column is there only where this side was asked. */
  of?: Side;
  tell(measured: Measured): string;
}

const columnsOfSpeed: readonly Column[] = [
  { name: 'question', tell: ({ question }) => question.name },
  { name: 'p50 ms', tell: ({ ms }) => median(ms.ours).toFixed(1) },
  { name: 'least ms', tell: ({ ms }) => Math.min(...ms.ours).toFixed(1) },
  { name: 'plain ms', tell: ({ ms }) => median(ms.plain).toFixed(1) },
  { name: 'peer ms', of: 'peer', tell: ({ ms }) => median(ms.peer).toFixed(1) },
  { name: 'of plain', tell: ({ ms }) => ratioOf(ms.ours, ms.plain).toFixed(2) },
  { name: 'anew ms', of: 'anew', tell: ({ ms }) => median(ms.anew).toFixed(1) },
  { name: 'anew of plain', of: 'anew', tell: ({ ms }) => ratioOf(ms.anew, ms.plain).toFixed(2) },
  { name: 'first ms', of: 'first', tell: (one) => median(firstOf(one, one.ms)).toFixed(1) },
  {
    ...{ name: 'first of plain', of: 'first' },
    tell: (one) => ratioOf(firstOf(one, one.ms), one.ms.plain).toFixed(2),
  },
  { name: 'engine CPU ms', tell: ({ cpuMs }) => median(cpuMs.ours).toFixed(1) },
  { name: 'plain CPU ms', tell: ({ cpuMs }) => median(cpuMs.plain).toFixed(1) },
  { name: 'CPU of plain', tell: ({ cpuMs }) => ratioOf(cpuMs.ours, cpuMs.plain).toFixed(2) },
  {
    ...{ name: 'first CPU of plain', of: 'first' },
    tell: (one) => ratioOf(firstOf(one, one.cpuMs), one.cpuMs.plain).toFixed(2),
  },
  { name: 'peer / ours', of: 'peer', tell: ({ ms }) => ratioOf(ms.peer, ms.ours).toFixed(2) },
  { name: 'days kept', tell: ({ question }) => (question.daysAreKept ? 'yes' : 'no') },
  { name: 'rows', tell: ({ rows }) => String(rows) },
];

/** Where no day is kept, each time is as the first. */
function firstOf({ question }: Measured, { first, ours }: BySide): number[] {
  return question.daysAreKept ? first : ours;
}

function speedTable(measured: readonly Measured[], sides: readonly Side[]): Table {
  return {
    title: 'Milliseconds until the answer, warm; ratios are medians of the pairs',
    columns: columnsWith(sides).map(({ name }) => name),
    rows: measured.map((one) => rowOf(one, sides)),
  };
}

function columnsWith(sides: readonly Side[]): Column[] {
  return columnsOfSpeed.filter(({ of = 'ours' }) => sides.includes(of));
}

function rowOf(measured: Measured, sides: readonly Side[]): string[] {
  return columnsWith(sides).map(({ tell }) => tell(measured));
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
