// The reader's session. The access token lives in memory alone; the refresh token is a cookie that no script reads,
// sent to AuthService only. Tabs of one browser share one refresh: a spent token used late would end the session.
// Loaded before the code of calls, which is long: this file imports none of it.

import { signal } from '@preact/signals';
import { isFramed } from './browser/media.ts';

export type Person = { id: string; displayName: string; email: string; isOperator: boolean };

/** `unknown`: a stored session may exist, and its refresh is under way. */
export type Session =
  | { state: 'unknown' }
  | { state: 'signed-out' }
  | {
      state: 'signed-in';
      person: Person;
      accessToken: string;
      expireAt: number;
      /** When a tab of this browser was given it. */
      givenAt: number;
    };

export const session = signal<Session>({ state: 'unknown' });

/** Says that this browser has signed in before: without it no refresh is tried, and a stranger sees no failed call. */
const mark = 'millrace-session';
/** A frame has no session, and the browser may forbid it to listen to the pages that have one. */
const channel = isFramed ? undefined : new BroadcastChannel('millrace-session');
const listensSinceMs = Date.now();

/** When a refresh began whose answer no page has had yet: that page may be gone, and its cookie still on its way. */
const begun = 'millrace-refresh-begun';
/** So long the service refuses a spent token and does no more. */
const graceMs = 10_000;

/** Long enough for one slow call, short enough to leave a token's last seconds unused. */
const renewAheadMs = 60_000;

/** What a method answers that signs in. */
export type Answer = {
  accessToken: string;
  expiresIn: number;
  customer?: { id: string; displayName: string; email: string; superAdmin?: boolean } | undefined;
};

/** Takes the answer of any method that signs in, and tells the other tabs. Returns its moment. */
export function takeSession({ accessToken, expiresIn, customer }: Answer): number {
  const person = {
    id: customer?.id ?? '',
    displayName: customer?.displayName ?? '',
    email: customer?.email ?? '',
    isOperator: customer?.superAdmin ?? false,
  };
  const givenAt = Date.now();
  const expireAt = givenAt + expiresIn * 1000;
  const next: Session = { state: 'signed-in', person, accessToken, expireAt, givenAt };
  session.value = next;
  localStorage.setItem(mark, 'yes');
  channel?.postMessage(next);
  return givenAt;
}

/** Ends the session here and in the other tabs. */
export function endSession(): void {
  session.value = { state: 'signed-out' };
  localStorage.removeItem(mark);
  channel?.postMessage({ state: 'signed-out' } satisfies Session);
}

channel?.addEventListener('message', ({ data }: MessageEvent<Session>) => {
  session.value = data;
});

const isFresh = (now: Session): now is Session & { state: 'signed-in' } =>
  now.state === 'signed-in' && now.expireAt - renewAheadMs > Date.now();

const lockName = 'millrace-refresh';
/** Another lock, of a name that ends with the moment of a renewal: its tab holds it while others may not know of it. */
const renewedName = 'millrace-renewed ';
/** A message between two tabs takes milliseconds; whoever waits longer for it renews, which is one renewal too many. */
const maxToldMs = 5_000;

/** Without a secure context there are no locks: a second tab's refresh is then within the service's ten seconds. */
async function alone(work: () => Promise<void>): Promise<void> {
  const { locks } = navigator;
  if (!locks) return work();
  await locks.request(lockName, async () => {
    await untilTold(await lastRenewalMs(locks));
    await work();
  });
}

/** When a tab renewed the session in the last seconds; 0 where none did. */
async function lastRenewalMs(locks: LockManager): Promise<number> {
  const { held = [] } = await locks.query();
  const times = held.flatMap(({ name = '' }) =>
    name.startsWith(renewedName) ? Number(name.slice(renewedName.length)) : [],
  );
  return Math.max(0, ...times);
}

/** The lock of a renewal may be known here before the renewal's message, which goes another way through the browser. */
async function untilTold(renewedMs: number): Promise<void> {
  // What was said before this tab listened is never heard.
  if (renewedMs < listensSinceMs) return;
  const isTold = (now: Session) =>
    now.state === 'signed-out' || (now.state === 'signed-in' && now.givenAt >= renewedMs);
  const endMs = performance.now() + maxToldMs;
  while (!isTold(session.peek()) && performance.now() < endMs)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Resolves when every tab that asks for the locks finds this renewal's. */
async function markRenewal(renewedMs: number): Promise<void> {
  const { locks } = navigator;
  if (!locks) return;
  await new Promise<void>((granted) => {
    void locks.request(`${renewedName}${renewedMs}`, { mode: 'shared' }, () => {
      granted();
      return new Promise((end) => setTimeout(end, maxToldMs));
    });
  });
}

/** The service was too busy to renew the token, and has said when it can be asked again. */
export class RenewalPostponed extends Error {
  readonly #againMs: number;

  constructor(waitSeconds: number) {
    super('The service is too busy to renew your session.');
    this.#againMs = performance.now() + waitSeconds * 1000;
  }

  /** Whole seconds until then; 0 once it is there. */
  get waitSeconds(): number {
    return Math.max(0, Math.ceil((this.#againMs - performance.now()) / 1000));
  }
}

let postponed: RenewalPostponed | undefined;

/** undefined where the answer says no time. */
function postponedBy(response: Response): RenewalPostponed | undefined {
  const seconds = Number(response.headers.get('retry-after'));
  return response.status === 429 && seconds > 0 ? new RenewalPostponed(seconds) : undefined;
}

/** Spends the cookie; undefined where the service refuses it. Throws where the service gives no answer to it. */
async function askToken(): Promise<Answer | undefined> {
  // Whoever asks meanwhile is told what the service said.
  if (postponed && postponed.waitSeconds > 0) throw postponed;
  const response = await fetch('/public.auth.v1.AuthService/RefreshToken', {
    ...{ method: 'POST', body: '{}' },
    headers: { 'content-type': 'application/json', 'x-session': 'cookie' },
    // The cookie of an answer is set though its page was left meanwhile.
    keepalive: true,
  });
  if (response.status === 401) return undefined;
  postponed = postponedBy(response);
  if (postponed) throw postponed;
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  const answer: Answer = await response.json();
  return answer;
}

/** Asks again where the cookie may be one that a page before has spent: the next one is here once its answer is. */
async function nextSession(): Promise<Answer | undefined> {
  const beforeMs = Number(localStorage.getItem(begun));
  localStorage.setItem(begun, String(Date.now()));
  try {
    for (let waitMs = 250; ; waitMs *= 2) {
      const answer = await askToken();
      if (answer !== undefined || Date.now() - beforeMs > graceMs) return answer;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  } finally {
    localStorage.removeItem(begun);
  }
}

let running: Promise<void> | undefined;

/** Renews the access token, once for all tabs. A refused refresh signs out; a failed one (no network) leaves all. */
export function refreshSession(refused?: string): Promise<void> {
  running ??= alone(async () => {
    const now = session.peek();
    const another =
      now.state === 'signed-in' && refused !== undefined && now.accessToken !== refused;
    if (another || (refused === undefined && isFresh(now))) return;
    const next = await nextSession();
    if (next === undefined) endSession();
    else await markRenewal(takeSession(next));
  }).finally(() => {
    running = undefined;
  });
  return running;
}

/** The access token of the moment, renewed where it is about to end; undefined where nobody is signed in. */
export async function accessToken(): Promise<string | undefined> {
  const now = session.peek();
  if (now.state === 'signed-out') return undefined;
  if (!isFresh(now)) await refreshSession();
  const renewed = session.peek();
  return renewed.state === 'signed-in' ? renewed.accessToken : undefined;
}

/**
 * At the start of a page: asks for the session of the cookie, waiting longer each time while the service is away, and
 * as long as a busy one says.
 */
export async function resumeSession(waitMs = 500): Promise<void> {
  if (localStorage.getItem(mark) === null) {
    session.value = { state: 'signed-out' };
    return;
  }
  try {
    await refreshSession();
  } catch (cause) {
    const toldMs = cause instanceof RenewalPostponed ? cause.waitSeconds * 1000 : waitMs;
    window.setTimeout(() => void resumeSession(Math.min(waitMs * 2, 10_000)), toldMs);
  }
}
