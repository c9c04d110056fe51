// Reads wait at gates here, so that each test decides when one ends.

import { beforeEach, expect, it } from 'vitest';
import { SingleFlight } from './single-flight.ts';

let reads: SingleFlight<string>;
let running: { answer: (text: string) => void }[];
beforeEach(() => {
  reads = new SingleFlight();
  running = [];
});

const ask = (signal = new AbortController().signal): Promise<string> =>
  reads.join(
    'counts',
    signal,
    (shared) =>
      new Promise((resolve, reject) => {
        const own = {
          answer(text: string) {
            running = running.filter((other) => other !== own);
            resolve(text);
          },
        };
        running.push(own);
        shared.addEventListener('abort', () => {
          running = running.filter((other) => other !== own);
          reject(shared.reason);
        });
      }),
  );

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

it('runs each time', async () => {
  for (const text of ['one', 'two']) {
    const asked = ask();
    await settled();
    running[0]?.answer(text);
    expect(await asked).toBe(text);
  }
});

it('shares the next run with all who come while one is running, which may lack what was stored since', async () => {
  const first = ask();
  await settled();
  const later = [ask(), ask()];
  await settled();
  expect(running).toHaveLength(1);
  running[0]?.answer('one');
  expect(await first).toBe('one');
  await settled();
  expect(running).toHaveLength(1);
  running[0]?.answer('two');
  expect(await Promise.all(later)).toEqual(['two', 'two']);
});

it('begins no run where all left who waited, and the next one where nobody waits for the last', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const [asked, waiting] = [ask(first.signal), ask(second.signal)];
  await settled();
  second.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  const next = ask();
  await settled();
  first.abort(new Error('gone too'));
  await expect(asked).rejects.toThrow('gone too');
  await settled();
  expect(running).toHaveLength(1);
  running[0]?.answer('three');
  expect(await next).toBe('three');
  expect(running).toHaveLength(0);
});

it('ends a run that everybody left, also those who waited for its end', async () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const [asked, waiting] = [ask(first.signal), ask(second.signal)];
  await settled();
  first.abort(new Error('gone'));
  await expect(asked).rejects.toThrow('gone');
  expect(running).toHaveLength(1);
  second.abort(new Error('gone too'));
  await expect(waiting).rejects.toThrow('gone too');
  expect(running).toHaveLength(0);
});
