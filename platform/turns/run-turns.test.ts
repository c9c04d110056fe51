// Whose turn it is: a long one holds up nobody of another organization, and no organization has both places.

import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { runTurns, type Turns } from './run-turns.ts';

interface Item {
  name: string;
  organization: string;
}

let turns: Turns | undefined;
afterEach(() => turns?.stop());

function start(items: readonly Item[], take: (one: Item) => Promise<number>): Turns {
  turns = runTurns<Item>({
    ...{ noun: 'item', all: () => items, take },
    ...{
      nameOf: ({ name }: Item) => name,
      organizationOf: ({ organization }: Item) => organization,
    },
    ...{ clock: systemClock, log: createLog('silent') },
  });
  return turns;
}

const never = Number.MAX_SAFE_INTEGER;

it('comes to whoever is due while a long turn goes on, once', async () => {
  const items: Item[] = [{ name: 'slow', organization: 'one' }];
  const taken: string[] = [];
  let end = (): void => {};
  const goesOn = new Promise<void>((resolve) => {
    end = resolve;
  });
  start(items, async ({ name }) => {
    taken.push(name);
    if (name === 'slow') await goesOn;
    return never;
  });
  await expect.poll(() => taken).toEqual(['slow']);
  items.push({ name: 'behind it', organization: 'one' }, { name: 'beside', organization: 'two' });
  await expect.poll(() => taken).toEqual(['slow', 'beside']);
  end();
  await expect.poll(() => taken).toEqual(['slow', 'beside', 'behind it']);
});

it('has two places at once', async () => {
  const items = ['a', 'b', 'c'].map((name) => ({ name, organization: name }));
  let [now, most] = [0, 0];
  const { tick } = start(items, async () => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 20));
    now -= 1;
    return never;
  });
  await Promise.all([tick(), tick()]);
  expect(most).toBe(2);
});
