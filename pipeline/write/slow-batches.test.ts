import { expect, it } from 'vitest';
import { SlowBatches } from './slow-batches.ts';

function after(batches: number): SlowBatches {
  const slow = new SlowBatches();
  // Small ones and large ones: 10 ms for each thousand rows, and 50 ms beside.
  for (let batch = 0; batch < batches; batch++) {
    const rows = batch % 2 === 0 ? 10 : 50_000;
    expect(slow.add(rows, 50 + rows / 100)).toBeUndefined();
  }
  return slow;
}

it('a batch of more than ten times the usual work is slow, whatever its size', () => {
  const slow = after(30);
  expect(slow.add(10, 1_100)).toBeCloseTo(22, 0);
  expect(slow.add(50_000, 6_500)).toBeCloseTo(11.8, 0);
  expect(slow.add(50_000, 5_000)).toBeUndefined();
});

it('less than a second is never slow, and nothing is before twenty batches', () => {
  expect(after(30).add(10, 900)).toBeUndefined();
  expect(after(19).add(10, 60_000)).toBeUndefined();
});

it('batches that stay so become usual', () => {
  const slow = after(30);
  for (let batch = 0; batch < 100; batch++) slow.add(10, 1_100);
  expect(slow.add(10, 1_100)).toBeUndefined();
});
