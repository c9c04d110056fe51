// Questions while events come in: each kind of question in quiet and at 50,000 events a second, and many readers at
// once. The shop is copied first, because this run stores more events beside it.

import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../platform/clock.ts';
import { type Stack, startStack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Session, type Table } from '../../bench.ts';
import { askQuestion } from '../../harness/insights/ask.ts';
import { boardDays, openBoard } from '../../harness/insights/board.ts';
import type { Question } from '../../harness/insights/question.ts';
import { questions } from '../../harness/insights/questions.ts';
import { rangeOf, turned } from '../../harness/insights/stored-range.ts';
import { countRows, watchRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { anotherOf, openShop, storeShop, withoutLimits } from '../../harness/shop/stored-shop.ts';
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
    return onCopy(mode, session, async (stack) => {
      const parameters = sizes[mode];
      const { endMs } = shopOf(mode, systemClock.nowMs());
      let turn = 0;
      const ask = async (question: Question): Promise<number> => {
        const asked = await rangeOf(stack, question.days, endMs);
        const startMs = performance.now();
        await askQuestion(stack, question, turned(asked, turn++));
        return performance.now() - startMs;
      };
      const [{ quiet, loaded, readers }, highest] = await withHighestMiB(stack, async () => ({
        quiet: await rounds(ask, (round) => round < parameters.rounds),
        loaded: await underLoad(stack, session, parameters, ask),
        readers: await manyReaders(stack, endMs, parameters),
      }));
      const tables = [loadTable(quiet, loaded), readersTable(readers, highest)];
      return {
        tables,
        resultHash: createHash('sha256').update(String(questions.length)).digest('hex'),
      };
    });
  },
};

type Ask = (question: Question) => Promise<number>;

/** Milliseconds of each question, round by round. */
async function rounds(
  ask: Ask,
  goOn: (round: number) => boolean,
): Promise<Map<Question, number[]>> {
  const ms = new Map<Question, number[]>();
  // The first round warms up.
  for (let round = -1; round < 0 || goOn(round); round++) {
    for (const question of questions) {
      const took = await ask(question);
      if (round >= 0) ms.set(question, [...(ms.get(question) ?? []), took]);
    }
  }
  return ms;
}

async function underLoad(
  stack: Stack,
  session: Session,
  { eventsPerSecond, batch, connections, loadMs, rounds: least }: Parameters,
  ask: Ask,
): Promise<Map<Question, number[]>> {
  const before = await countRows(stack);
  let isOver = false;
  const load = runLoadProcess({
    ...{ baseUrl: stack.baseUrl, key: stack.publicKey, size: 'medium', batch, seed: 15 },
    ...{ occursNow: true, nowMs: Date.now(), bodiesPerConnection: 16, connections },
    ...{ requestsPerSecond: eventsPerSecond / batch, firstSequence: session.nextLoad() * 2 ** 22 },
    ...{ warmUpMs: 0, durationMs: loadMs, traced: false },
  }).finally(() => {
    isOver = true;
  });
  const [{ acknowledgedEvents }, ms] = await Promise.all([
    load,
    rounds(ask, (round) => !isOver || round < Math.min(1, least)),
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

async function onCopy<Result>(
  mode: Mode,
  session: Session,
  run: (stack: Stack) => Promise<Result>,
): Promise<Result> {
  const shop = shopOf(mode, systemClock.nowMs());
  if (mode === 'smoke') {
    const stack = await session.stack();
    await storeShop(stack, anotherOf(shop, session), () => {});
    return run(stack);
  }
  const made = await openShop(shop, (line) => void process.stderr.write(`${line}\n`));
  const dataDir = mkdtempSync(join(made, '..', 'loaded-'));
  try {
    cpSync(made, dataDir, { recursive: true });
    const stack = await startStack({ dataDir, env: withoutLimits });
    try {
      return await run(stack);
    } finally {
      await stack.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
