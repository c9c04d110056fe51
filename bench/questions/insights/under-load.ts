// Questions while events come in: each kind of question in quiet and at 50,000 events a second, and many readers at
// once. The shop is copied first, because this run stores more events beside it.

import { createHash } from 'node:crypto';
import { systemClock } from '../../../platform/clock.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Session, type Table } from '../../bench.ts';
import { askQuestion } from '../../harness/insights/ask.ts';
import { boardDays, openBoard } from '../../harness/insights/board.ts';
import type { Question } from '../../harness/insights/question.ts';
import { asksOf, questionsAgain, untilDaysMayBeKept } from '../../harness/insights/questions.ts';
import { rangeOf, turned } from '../../harness/insights/stored-range.ts';
import { countRows, watchRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { onShopCopy } from '../../harness/shop/shop-copy.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { withHighestMiB } from '../../harness/usage.ts';

interface Parameters {
  eventsPerSecond: number;
  batch: number;
  connections: number;
  loadMs: number;
  /** Rounds of all questions in quiet, and so many at least under load. */
  rounds: number;
  readers: number;
  /** Boards of each reader. */
  each: number;
}

const sizes: Record<Mode, Parameters> = {
  smoke: {
    eventsPerSecond: 500,
    batch: 10,
    connections: 2,
    loadMs: 500,
    rounds: 1,
    readers: 4,
    each: 2,
  },
  real: {
    eventsPerSecond: 50_000,
    batch: 100,
    connections: 16,
    loadMs: 120_000,
    rounds: 5,
    readers: 32,
    each: 2,
  },
};
const drainTimeoutMs = 300_000;

export const insightsUnderLoadBench: Bench = {
  name: 'insights-under-load',
  question:
    'How much slower are questions while 50,000 events a second come in, and with 32 readers?',
  async run(mode, session) {
    const shop = shopOf(mode, systemClock.nowMs());
    return onShopCopy(shop, mode, session, async (stack) => {
      const parameters = sizes[mode];
      const { endMs } = shop;
      let turn = 0;
      const ask = async (question: Question): Promise<number> => {
        const asked = await rangeOf(stack, question.days, endMs);
        const startMs = performance.now();
        await askQuestion(stack, question, turned(asked, turn++));
        return performance.now() - startMs;
      };
      const [{ quiet, loaded, readers }, highest] = await withHighestMiB(stack, async () => ({
        quiet: await rounds(mode, ask, (round) => round < parameters.rounds),
        loaded: await underLoad(mode, stack, session, parameters, ask),
        readers: await manyReaders(stack, endMs, parameters),
      }));
      const tables = [loadTable(quiet, loaded), readersTable(readers, highest)];
      return {
        tables,
        resultHash: createHash('sha256')
          .update(String(questionsAgain(mode).length))
          .digest('hex'),
      };
    });
  },
};

type Ask = (question: Question) => Promise<number>;

/** Milliseconds of each question, round by round. */
async function rounds(
  mode: Mode,
  ask: Ask,
  goOn: (round: number) => boolean,
): Promise<Map<Question, number[]>> {
  const ms = new Map<Question, number[]>();
  const { warmUps } = asksOf[mode];
  for (let round = -warmUps; round <= 0 || goOn(round); round++) {
    for (const question of questionsAgain(mode)) {
      const took = await ask(question);
      if (round >= 0) ms.set(question, [...(ms.get(question) ?? []), took]);
    }
    if (round < 0) await untilDaysMayBeKept(mode);
  }
  return ms;
}

async function underLoad(
  mode: Mode,
  stack: Stack,
  session: Session,
  { eventsPerSecond, batch, connections, loadMs, rounds: least }: Parameters,
  ask: Ask,
): Promise<Map<Question, number[]>> {
  const before = await countRows(stack);
  let isOver = false;
  const load = runLoadProcess({
    ...{ baseUrl: stack.baseUrl, key: stack.publicKey, size: 'medium', batch, seed: 15 },
    ...{ bodiesPerConnection: 16, connections },
    ...{ requestsPerSecond: eventsPerSecond / batch, load: session.nextLoad() },
    ...{ warmUpMs: 0, durationMs: loadMs, traced: false },
  }).finally(() => {
    isOver = true;
  });
  const [{ acknowledgedEvents }, ms] = await Promise.all([
    load,
    rounds(mode, ask, (round) => !isOver || round < Math.min(1, least)),
  ]);
  const watch = watchRows(stack, 500);
  await watch.until(before + acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  const rate = (1_000 * acknowledgedEvents) / loadMs;
  process.stderr.write(`${rate.toFixed(0)} events/s were acknowledged\n`);
  return ms;
}

/** Milliseconds of each rendering of the board; each reader asks for another range, one after the other. */
async function manyReaders(
  stack: Stack,
  endMs: number,
  { readers, each }: Parameters,
): Promise<number[]> {
  const render = await openBoard(stack);
  const range = await rangeOf(stack, boardDays, endMs);
  const reader = async (number: number): Promise<number[]> => {
    const ms: number[] = [];
    for (let index = 0; index < each; index++) {
      const startMs = performance.now();
      await render(turned(range, number * each + index));
      ms.push(performance.now() - startMs);
    }
    return ms;
  };
  const all = await Promise.all(Array.from({ length: readers }, (_, number) => reader(number)));
  return all.flat();
}

function loadTable(
  quiet: ReadonlyMap<Question, number[]>,
  loaded: ReadonlyMap<Question, number[]>,
): Table {
  return {
    title: 'p50 milliseconds in quiet and at 50,000 events/s',
    columns: ['question', 'quiet ms', 'loaded ms', 'of quiet', 'slowest ms', 'times asked'],
    rows: [...quiet].map(([question, before]) => {
      const during = loaded.get(question) ?? [];
      check(during.length > 0, `${question.name} was asked under load`);
      return [
        question.name,
        ...[median(before).toFixed(1), median(during).toFixed(1)],
        (median(during) / median(before)).toFixed(2),
        ...[Math.max(...during).toFixed(1), String(during.length)],
      ];
    }),
  };
}

function readersTable(ms: readonly number[], highestMiB: number): Table {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
  return {
    title: '32 readers at once, each the overview board in turn; all were answered',
    columns: ['answers', 'p50 ms', 'p99 ms', 'slowest ms', 'highest MiB of all processes'],
    rows: [[String(ms.length), at(0.5), at(0.99), at(1), highestMiB.toFixed(0)]],
  };
}
