import { beforeEach, expect, it } from 'vitest';
import { HeldDays } from './held-days.ts';

const hourMs = 3_600_000;
const million = 1_000_000;
let nowMs = 0;
let held: HeldDays;
beforeEach(() => {
  nowMs = 0;
  held = new HeldDays(200 * million, () => nowMs);
});

/** Holds a day of so many entries of one profile: 20 bytes each. */
async function hold(projectId: string, entries: number, day = 1): Promise<boolean> {
  const columns = (): Uint32Array => new Uint32Array(entries);
  const [profiles, events] = [columns(), columns()];
  const quarters = [columns(), columns(), columns()] as const;
  const load = async ({ days }: { days: Map<number, object> }): Promise<void> => {
    days.set(day, { version: 1, profiles, persons: entries, events, quarters });
  };
  const adding = held.add(projectId, { days: 1, entries, profiles: 1 }, load);
  return adding.then(
    () => true,
    () => false,
  );
}

it('holds the days of a project as long as it asks, and of another where there is room', async () => {
  expect(held.get('first')).toBeUndefined();
  expect(await hold('first', 8 * million, 5)).toBe(true);
  expect(await hold('first', 10, 3)).toBe(true);
  expect([...(held.get('first')?.days.keys() ?? [])]).toEqual([5, 3]);
  nowMs += hourMs / 2;
  expect(held.get('first')?.days.size).toBe(2);
  nowMs += hourMs;
  expect(await hold('second', 4 * million)).toBe(false);
  expect(held.get('second')).toBeUndefined();
  expect(held.get('first')?.days.size).toBe(2);
});

it('drops projects that nobody asked about for an hour, where another needs their room', async () => {
  await hold('first', 5 * million);
  nowMs += 1;
  await hold('later', 3 * million);
  await hold('little', 1_000);
  nowMs += hourMs + 1;
  expect(await hold('second', 6 * million)).toBe(true);
  expect(held.get('first')).toBeUndefined();
  // There is room enough without it.
  expect(held.get('later')?.days.size).toBe(1);
  expect(held.get('little')?.days.size).toBe(1);
});

it('keeps the days of a project that asks for more than there is room for', async () => {
  await hold('first', 2 * million);
  expect(await hold('first', 30 * million, 2)).toBe(false);
  expect(held.get('first')?.days.size).toBe(1);
  expect(await hold('first', million, 3)).toBe(true);
});

it('reserves the room of what is on its way', async () => {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const size = { days: 1, entries: 6 * million, profiles: 1 };
  const first = held.add('first', size, () => gate);
  expect(await hold('second', 6 * million)).toBe(false);
  open();
  await first;
  expect(await hold('second', 6 * million)).toBe(true);
});

it('gives back what a failure had reserved', async () => {
  const size = { days: 1, entries: 6 * million, profiles: 1 };
  const failing = held.add('first', size, () => Promise.reject(new Error('no rows')));
  await expect(failing).rejects.toThrow('no rows');
  expect(await hold('second', 6 * million)).toBe(true);
});

it('counts profiles, days without entries, and projects', async () => {
  const adding = held.add('first', { days: 1, entries: 1, profiles: 4 * million }, async () => {});
  await expect(adding).rejects.toThrow('no room');
  const holds = [];
  for (let project = 0; project < 1_000; project++) {
    const size = { days: 365, entries: 0, profiles: 0 };
    const load = async ({ days }: { days: Map<number, object> }): Promise<void> => {
      const none = new Uint32Array(0);
      for (let day = 0; day < 365; day++) {
        const quarters = [none, none, none] as const;
        days.set(day, { version: 0, profiles: none, persons: 0, events: none, quarters });
      }
    };
    holds.push(
      await held.add(`project ${project}`, size, load).then(
        () => 1,
        () => 0,
      ),
    );
  }
  const count = holds.reduce<number>((sum, one) => sum + one, 0);
  expect(count).toBeGreaterThan(500);
  expect(count).toBeLessThan(1_000);
});

it('refuses a project for an hour, and drops its days', async () => {
  await hold('first', 1_000);
  held.refuse('first');
  expect(held.get('first')).toBeUndefined();
  nowMs += hourMs - 1;
  expect(await hold('first', 1_000)).toBe(false);
  nowMs += 1;
  expect(await hold('first', 1_000)).toBe(true);
});
