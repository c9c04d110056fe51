// What is told of preflights, and how often.

import { expect, it } from 'vitest';
import { createPreflightNotice } from './preflights.ts';

it('is nothing but that one came, once a second', () => {
  let nowMs = 5_000;
  const told: [string, number][] = [];
  const notice = createPreflightNotice((subject, { length }) => void told.push([subject, length]), {
    nowMs: () => nowMs,
  });
  for (let count = 0; count < 10; count++) notice();
  expect(told).toEqual([['preflight', 0]]);
  nowMs += 1_000;
  notice();
  expect(told).toHaveLength(2);
});
