// The same questions over 5, 20 and 100 million events. The last 60 days of the greatest are the middle one's, so that
// a question about them reads as many rows of a table five times as long.

import { createHash } from 'node:crypto';
import { systemClock } from '../../../platform/clock.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Session, type Table } from '../../bench.ts';
import { askQuestion } from '../../harness/insights/ask.ts';
import type { AnswerRow, Question } from '../../harness/insights/question.ts';
import { asksOf, questionsAgain, untilDaysMayBeKept } from '../../harness/insights/questions.ts';
import { rangeOf, turned } from '../../harness/insights/stored-range.ts';
import { median } from '../../harness/pairs.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { type Past, withShop } from '../../harness/shop/stored-shop.ts';

interface Size {
  name: string;
  events: number;
  olderCopies: number;
}

const stages: readonly Size[] = [
  { name: '5 million', events: 5_000_000, olderCopies: 0 },
  { name: '20 million', events: 20_000_000, olderCopies: 0 },
  { name: '100 million', events: 20_000_000, olderCopies: 4 },
];
/** Its answer depends on all of the past. */
const looksAtAll = /^lifecycle/;

interface Asked {
  ms: number;
  answer: AnswerRow[];
}

export const insightsGrowthBench: Bench = {
  name: 'insights-growth',
  question: 'Does a question cost by the rows of its range, and not by those of the table?',
  async run(mode, session) {
    const measured: ReadonlyMap<Question, Asked>[] = [];
    for (const { events, olderCopies } of stages) {
      measured.push(await measureShop(mode, session, events, { olderCopies }));
    }
    for (const question of questionsAgain(mode)) {
      const [, middle, large] = measured.map((asked) => asked.get(question)?.answer);
      // In smoke runs all are stored in one project.
      if (mode === 'smoke' || looksAtAll.test(question.name)) continue;
      const isSame = JSON.stringify(sorted(middle)) === JSON.stringify(sorted(large));
      check(isSame, `${question.name}: the same answer with a longer past`);
    }
    const resultHash = createHash('sha256').update(String(measured.length)).digest('hex');
    return { tables: [growthTable(questionsAgain(mode), measured)], resultHash };
  },
};

function measureShop(
  mode: Mode,
  session: Session,
  events: number,
  past: Past,
): Promise<ReadonlyMap<Question, Asked>> {
  const shop = shopOf(mode, systemClock.nowMs(), events);
  return withShop(shop, mode, session, (stack) => measure(stack, shop.endMs, mode), past);
}

async function measure(
  stack: Stack,
  endMs: number,
  mode: Mode,
): Promise<ReadonlyMap<Question, Asked>> {
  const { warmUps, counted } = asksOf[mode];
  const found = new Map<Question, Asked>();
  for (const question of questionsAgain(mode)) {
    const asked = await rangeOf(stack, question.days, endMs);
    const ms: number[] = [];
    let answer: AnswerRow[] = [];
    for (let turn = 0; turn < warmUps + counted; turn++) {
      const startMs = performance.now();
      answer = question.rowsOf(await askQuestion(stack, question, turned(asked, turn)));
      if (turn >= warmUps) ms.push(performance.now() - startMs);
      else await untilDaysMayBeKept(mode);
    }
    check(answer.length > 0, `${question.name} has an answer`);
    found.set(question, { ms: median(ms), answer });
  }
  return found;
}

function sorted(rows: readonly AnswerRow[] = []): string[] {
  return rows.map((row) => row.join('\t')).sort();
}

function growthTable(
  questions: readonly Question[],
  measured: readonly ReadonlyMap<Question, Asked>[],
): Table {
  return {
    title:
      'p50 milliseconds; the range of the last two holds the same rows, that of the first a quarter',
    columns: ['question', ...stages.map(({ name }) => name), '20 of 5', '100 of 20'],
    rows: questions.map((question) => {
      const ms = measured.map((asked) => asked.get(question)?.ms ?? Number.NaN);
      const [small = 1, middle = 1, large = 1] = ms;
      return [
        question.name,
        ...ms.map((of) => of.toFixed(1)),
        ...[(middle / small).toFixed(2), (large / middle).toFixed(2)],
      ];
    }),
  };
}
