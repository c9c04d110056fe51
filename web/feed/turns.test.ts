import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Turns, takeTurns } from './turns.ts';

const patienceMs = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.unstubAllGlobals();
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

/** A tab that says when its turn begins and ends, and tells the others nothing. */
function openTab(name: string, told: string[], request: Turns['request'], isSeen = true) {
  const end = new AbortController();
  const hear = takeTurns({
    ...{ request, end: end.signal, patienceMs, isSeen: () => isSeen, tell: () => {} },
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

/** Channels post to those of the same name, as in a browser. */
function ether() {
  const open = new Set<Channel>();
  class Channel {
    onmessage: ((message: { data: unknown }) => void) | undefined;
    readonly name: string;
    constructor(name: string) {
      this.name = name;
      open.add(this);
    }
    postMessage(data: unknown): void {
      for (const other of open) {
        if (other !== this && other.name === this.name) other.onmessage?.({ data });
      }
    }
    close(): void {
      open.delete(this);
    }
  }
  return Channel;
}

/** The feed in a tab of its own: with modules, and an address of the service, that no other tab has. */
async function openFeedInTab(name: string) {
  vi.resetModules();
  vi.stubGlobal('window', { location: { origin: `http://${name}.test` }, setTimeout });
  const { session } = await import('../session.ts');
  session.value = { state: 'signed-out' };
  const { openFeed } = await import('./live-feed.ts');
  return openFeed('project');
}

it('leaves the live stream to a tab that tries, however long the service is silent', async () => {
  const lock = oneLock();
  const request = (_name: string, options: LockOptions, work: () => Promise<void>) =>
    lock(options, work);
  let calls: string[] = [];
  vi.stubGlobal('navigator', { locks: { request } });
  vi.stubGlobal('BroadcastChannel', ether());
  vi.stubGlobal('document', { visibilityState: 'visible' });
  vi.stubGlobal('fetch', (url: string, { signal }: RequestInit) => {
    calls.push(new URL(url).hostname);
    return new Promise((_, fail) => signal?.addEventListener('abort', () => fail(signal.reason)));
  });
  const first = await openFeedInTab('first');
  const second = await openFeedInTab('second');
  await vi.advanceTimersByTimeAsync(12 * patienceMs);
  expect(calls.length).toBeGreaterThan(5);
  expect(new Set(calls)).toEqual(new Set(['first.test']));
  // A sign of the other tab is none of the service.
  expect(second.feed.isLive.value).toBe(false);
  first.end();
  calls = [];
  await vi.advanceTimersByTimeAsync(2 * patienceMs);
  expect(new Set(calls)).toEqual(new Set(['second.test']));
  second.end();
  await vi.advanceTimersByTimeAsync(2 * patienceMs);
  expect(vi.getTimerCount()).toBe(0);
});
