// The overview board over 20 million events, warm, beside its tiles: each asked alone, of rows of events, in turns.

import { createHash } from 'node:crypto';
import { systemClock } from '../../../platform/clock.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import type { Bench, Mode, Table } from '../../bench.ts';
import { askTilesPlainly, boardDays, openBoard } from '../../harness/insights/board.ts';
import {
  asksOf,
  forgetDays,
  halfOfADay,
  untilDaysMayBeKept,
} from '../../harness/insights/questions.ts';
import { rangeOf, turned } from '../../harness/insights/stored-range.ts';
import { median, ratioOf } from '../../harness/pairs.ts';
import { shopOf } from '../../harness/shop/shop-sizes.ts';
import { withShop } from '../../harness/shop/stored-shop.ts';

export const insightsBoardBench: Bench = {
  name: 'insights-board',
  question: 'What does the overview board save beside its tiles, asked one by one?',
  async run(mode, session) {
    const shop = shopOf(mode, systemClock.nowMs());
    return withShop(shop, mode, session, async (stack) => {
      const ms = await measureBoard(stack, shop.endMs, mode);
      const resultHash = createHash('sha256').update(String(ms.kept.length)).digest('hex');
      return { tables: [boardTable(ms)], resultHash };
    });
  },
};

type BoardSide = 'kept' | 'plain' | 'anew';

/** Milliseconds of each rendering, with days kept and without, and of all tiles asked plainly. */
async function measureBoard(
  stack: Stack,
  endMs: number,
  mode: Mode,
): Promise<Record<BoardSide, number[]>> {
  const { warmUps, counted } = asksOf[mode];
  const render = await openBoard(stack);
  const range = await rangeOf(stack, boardDays, endMs);
  const ms: Record<BoardSide, number[]> = { kept: [], plain: [], anew: [] };
  const timed = async <T>(side: BoardSide, turn: number, work: () => Promise<T>): Promise<T> => {
    const startMs = performance.now();
    const result = await work();
    if (turn >= warmUps) ms[side].push(performance.now() - startMs);
    return result;
  };
  for (let turn = 0; turn < warmUps + counted; turn++) {
    const asked = turned(range, turn);
    const tiles = await timed('kept', turn, () => render(asked));
    await timed('plain', turn, () => askTilesPlainly(stack, tiles, asked, systemClock.nowMs()));
    if (turn === 0) await untilDaysMayBeKept(mode);
  }
  for (let turn = 0; turn < warmUps + counted; turn++) {
    await forgetDays(stack);
    await timed('anew', turn, () => render(turned(range, halfOfADay + turn)));
  }
  return ms;
}

function boardTable({ kept, plain, anew }: Record<BoardSide, readonly number[]>): Table {
  return {
    title:
      'The overview board: all tiles, with the range before, beside each tile asked alone of rows of events',
    columns: ['board', 'board p50 ms', 'least ms', 'tiles ms', 'of its tiles', 'anew ms'],
    rows: [
      [
        ...['overview', median(kept).toFixed(1), Math.min(...kept).toFixed(1)],
        ...[median(plain).toFixed(1), ratioOf(kept, plain).toFixed(2), median(anew).toFixed(1)],
      ],
    ],
  };
}
