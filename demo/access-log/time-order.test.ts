// Lines of joined logs, in the order of time as far as the memory reaches.

import { expect, it } from 'vitest';
import { inTimeOrder, type TakenLine } from './time-order.ts';

async function* linesAt(times: readonly number[], text = 'x'): AsyncGenerator<TakenLine> {
  for (const [index, timeMs] of times.entries()) {
    const line = { address: 'a', timeMs, method: 'GET', target: '/', status: 200 };
    yield { line, text: `${index}${text}` };
  }
}

async function ordered(lines: AsyncIterable<TakenLine>, maxLines?: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { line, text } of inTimeOrder(lines, maxLines)) {
    found.push(`${line.timeMs}:${text.slice(0, 1)}`);
  }
  return found;
}

it('orders all that fits, equal moments as they came', async () => {
  expect(await ordered(linesAt([3, 1, 2, 1]))).toEqual(['1:1', '1:3', '2:2', '3:0']);
  expect(await ordered(linesAt([]))).toEqual([]);
});

it('orders a stretch at a time, by lines and by their length', async () => {
  expect(await ordered(linesAt([3, 1, 2, 1]), 2)).toEqual(['1:1', '3:0', '1:3', '2:2']);
  const long = 'x'.repeat(17_000_000);
  expect(await ordered(linesAt([3, 1, 2], long))).toEqual(['1:1', '3:0', '2:2']);
});
