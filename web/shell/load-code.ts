// Loads code of the app that is not there yet. A browser keeps the failure of an import for as long as its page lives
// (Chromium 150 asks the service for the file no second time), so the service is asked first, and a page whose import
// failed all the same is loaded anew. So is one whose build the service no longer has.

import { Code, ConnectError } from '@connectrpc/connect';
import { isInTouch, isReachable } from '../client.ts';

const maxTries = 4;
const firstWaitMs = 500;

/** The name of the entry tells the build: it holds the names of all other files. */
const entry = document.querySelector<HTMLScriptElement>('script[type=module]')?.src ?? '';
const entryPath = entry && new URL(entry).pathname;

/**
 * Waits while the service is away, and tries again a few times, longer apart each time. `reload`: loads the page anew
 * as the last resort, and then never resolves; without it nothing that was typed is lost. Throws what the reader can
 * read.
 */
export async function loadCode<T>(
  load: () => Promise<T>,
  end: AbortSignal,
  reload?: () => boolean,
): Promise<T> {
  let isAnother = false;
  for (let tried = 0; tried < maxTries && !isAnother; tried++) {
    if (tried > 0) await pause(firstWaitMs * 2 ** (tried - 1));
    await reachable(end);
    const build = tried === 0 && isInTouch() ? 'same' : await askBuild(end);
    isAnother = build === 'another';
    if (build !== 'same') continue;
    try {
      return await load();
    } catch {
      // The next try asks the service first.
    }
  }
  if (!end.aborted && reload?.()) return new Promise(() => {});
  throw new ConnectError(
    isAnother
      ? 'Millrace was updated since this page was loaded.'
      : 'A part of this page could not be loaded.',
    Code.Unknown,
  );
}

const lookMs = 200;

/** Resolves once the service answers, which the bar of the connection asks for; rejects where `end` comes first. */
async function reachable(end: AbortSignal): Promise<void> {
  while (!isReachable.peek() && !end.aborted) await pause(lookMs);
  end.throwIfAborted();
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => window.setTimeout(done, ms));
}

/** Whether the service has this page's build; undefined where it did not answer with a page. */
async function askBuild(signal: AbortSignal): Promise<'same' | 'another' | undefined> {
  try {
    const answer = await fetch('/', {
      ...{ headers: { accept: 'text/html' }, cache: 'no-cache' as const, signal },
    });
    const page = answer.ok ? await answer.text() : '';
    if (!page.includes('id="app"')) return undefined;
    return page.includes(entryPath) ? 'same' : 'another';
  } catch {
    if (!signal.aborted) isReachable.value = false;
    return undefined;
  }
}

const reloadedMark = 'millrace-reloaded';

/** Undefined where the browser keeps nothing for the page: in a frame of another site it may forbid to. */
function tabStorage(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    return undefined;
  }
}

/** Loads the page anew, unless that was done and no page was shown since or it cannot be noted: whether it does. */
export function reloadOnce(): boolean {
  const storage = tabStorage();
  if (storage === undefined || storage.getItem(reloadedMark) !== null) return false;
  storage.setItem(reloadedMark, 'yes');
  window.location.reload();
  return true;
}

/** A page is shown: the next one that fails may be loaded anew. */
export function pageIsShown(): void {
  tabStorage()?.removeItem(reloadedMark);
}
