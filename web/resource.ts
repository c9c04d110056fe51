// Data of the service on a page: the last answer stays while a newer one is on its way, and a new question ends the
// one before.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isReachable, retryAfterSeconds } from './client.ts';
import { answered, asking, failed, nothingAsked, type ResourceState } from './resource-state.ts';

export type Resource<T> = {
  /** The newest answer to this key, or the last one to the key before while `isLoading`. */
  data: T | undefined;
  error: unknown;
  isLoading: boolean;
  /** Asks anew, and ends a call that is under way: a page that polls asks only where it is not `isLoading`. */
  reload: () => void;
};

/** Answers of pages that were just left, so that "back" shows them at once. */
const kept = new Map<string, unknown>();
const maxKept = 60;

function keep(key: string, answer: unknown): void {
  kept.delete(key);
  kept.set(key, answer);
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) break;
    kept.delete(oldest);
  }
}

/** Drops kept answers whose key begins so: after a change that they do not show. */
export function forget(prefix: string): void {
  for (const key of kept.keys()) if (key.startsWith(prefix)) kept.delete(key);
}

/** Drops all: another person sees nothing of the one before. */
export function forgetAll(): void {
  kept.clear();
}

/** A question that a busy service did not answer is asked again so often by itself. */
const maxRetries = 3;

/** Asks `load` once for each `key`, which names everything that the answer depends on; undefined asks nothing. */
export function useResource<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
): Resource<T> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<ResourceState<T>>(nothingAsked);
  const retries = useRef({ key, left: maxRetries });
  const reload = useCallback(() => setRound((last) => last + 1), []);
  useEffect(() => {
    if (key === undefined) return;
    const end = new AbortController();
    let retry: number | undefined;
    if (retries.current.key !== key) retries.current = { key, left: maxRetries };
    // The key names the question, so a kept answer has the type of its load.
    const before = kept.get(key) as T | undefined;
    setState((last) => asking(last, key, before));
    load(end.signal).then(
      (data) => {
        if (end.signal.aborted) return;
        keep(key, data);
        retries.current.left = maxRetries;
        setState(answered(key, data));
      },
      (error: unknown) => {
        if (end.signal.aborted) return;
        setState((last) => failed(last, key, error));
        const seconds = retryAfterSeconds(error);
        if (seconds === undefined || retries.current.left === 0) return;
        retries.current.left -= 1;
        retry = window.setTimeout(reload, seconds * 1_000);
      },
    );
    return () => {
      end.abort();
      window.clearTimeout(retry);
    };
  }, [key, round]);
  // A page that failed while the service was away asks again by itself.
  const reachable = isReachable.value;
  useEffect(() => {
    if (reachable && state.error !== undefined) reload();
  }, [reachable]);
  // A new key is asked only after it was drawn once: until then the state is that of the key before.
  const isOfKey = state.key === key;
  return {
    data: state.answer?.data,
    error: isOfKey ? state.error : undefined,
    isLoading: key !== undefined && !(isOfKey && state.isDone),
    reload,
  };
}
