// Data of the service on a page: the last answer stays while a newer one is on its way, and a new question ends the
// one before.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { isReachable } from './client.ts';
import {
  answered,
  asking,
  failed,
  type Missing,
  nothingAsked,
  type ResourceState,
} from './resource-state.ts';
import { Retries } from './retries/retries.ts';

export type Resource<T> = {
  /** The newest answer to this key, or the last one to the key before while `isLoading`. */
  data: T | undefined;
  error: unknown;
  isLoading: boolean;
  /** Parts of `data`, because the service was busy. */
  missing: Missing | undefined;
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

/**
 * Asks `load` once for each `key`, which names everything that the answer depends on; undefined asks nothing.
 * `busySeconds` tells of an answer that misses parts, because the service was busy, when they can be asked for.
 */
export function useResource<T>(
  key: string | undefined,
  load: (signal: AbortSignal) => Promise<T>,
  busySeconds?: (answer: T) => number | undefined,
): Resource<T> {
  const [round, setRound] = useState(0);
  const [state, setState] = useState<ResourceState<T>>(nothingAsked);
  const retries = useMemo(() => new Retries(), [key]);
  const askAnew = (): void => setRound((last) => last + 1);
  const reload = (): void => {
    retries.renew();
    askAnew();
  };
  useEffect(() => {
    if (key === undefined) return;
    const end = new AbortController();
    // The key names the question, so a kept answer has the type of its load.
    const before = kept.get(key) as T | undefined;
    setState((last) => asking(last, key, before));
    load(end.signal).then(
      (data) => {
        if (end.signal.aborted) return;
        keep(key, data);
        const seconds = busySeconds?.(data);
        let missing: Missing | undefined;
        if (seconds === undefined) retries.renew();
        else missing = { againSeconds: retries.plan(seconds, askAnew) };
        setState(answered(key, data, missing));
      },
      (cause: unknown) => {
        if (end.signal.aborted) return;
        const error = retries.planAfter(cause, askAnew);
        setState((last) => failed(last, key, error));
      },
    );
    return () => {
      end.abort();
      retries.cancel();
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
    missing: isOfKey ? state.answer?.missing : undefined,
    reload,
  };
}
