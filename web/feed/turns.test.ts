import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Turns, takeTurns } from './turns.ts';

const patienceMs = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** One lock, as browsers hand it out: to who asks first, and at once to who steals it. */
function oneLock(): Turns['request'] {
  let holder: { fail: (cause: unknown) => void } | undefined;
  const lost = (): DOMException => new DOMException('lost', 'AbortError');
  return ({ signal, steal }, work) =>
    new Promise((done, fail) => {
      if (steal) holder?.fail(lost());
      if (holder && !steal) return signal?.addEventListener('abort', () => fail(lost()));
      holder = { fail };
      work().then(done, fail);
    });
}

/** A tab that says when its turn begins and ends. */
function openTab(name: string, told: string[], request: Turns['request'], isSeen = true) {
  const end = new AbortController();
  const hear = takeTurns({
    ...{ request, end: end.signal, patienceMs, isSeen: () => isSeen },
    work: (turn) =>
      new Promise((done) => {
        told.push(`${name} begins`);
        turn.addEventListener('abort', () => {
          told.push(`${name} ends`);
          done();
        });
      }),
  });
  return { hear, end };
}

it('takes the turn away from a tab that is not heard, once somebody looks', async () => {
  const lock = oneLock();
  const told: string[] = [];
  openTab('asleep', told, lock);
  const unseen = openTab('unseen', told, lock, false);
  const seen = openTab('seen', told, lock);
  for (let second = 0; second < 30; second++) {
    await vi.advanceTimersByTimeAsync(1_000);
    for (const tab of [unseen, seen]) tab.hear();
  }
  expect(told).toEqual(['asleep begins']);
  await vi.advanceTimersByTimeAsync(patienceMs);
  expect(told).toEqual(['asleep begins', 'seen begins', 'asleep ends']);
});

it('ends with its tab, whether it waits or works', async () => {
  const lock = oneLock();
  const told: string[] = [];
  const first = openTab('first', told, lock);
  const second = openTab('second', told, lock);
  await vi.advanceTimersByTimeAsync(0);
  second.end.abort();
  first.end.abort();
  await vi.advanceTimersByTimeAsync(patienceMs);
  expect(told).toEqual(['first begins', 'first ends']);
  expect(vi.getTimerCount()).toBe(0);
});

it('does not ask again where the browser has no locks for this page', async () => {
  const request = vi.fn(() => Promise.reject(new DOMException('no locks here', 'SecurityError')));
  openTab('only', [], request);
  await vi.advanceTimersByTimeAsync(3 * patienceMs);
  expect(request).toHaveBeenCalledOnce();
  expect(vi.getTimerCount()).toBe(0);
});
