// A list that is read a page at a time, by the tokens of the service.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isReachable } from './client.ts';
import { Retries } from './retries/retries.ts';

export type Paged<T> = {
  rows: readonly T[];
  error: unknown;
  isLoading: boolean;
  /** The rows are those of before, and the first page is on its way. */
  isUpdating: boolean;
  /** Whether rows follow those that are here. */
  hasMore: boolean;
  /** Asks for the next page, where there is one and none is on its way. */
  more: () => void;
  /** Begins anew; the rows stay until the first page is there. */
  reload: () => void;
  /** Reads the first page again, where no other was asked for and nothing is on its way: for a list that polls. */
  refresh: () => void;
};

type Page<T> = { rows: readonly T[]; next: string };
type State<T> = {
  rows: readonly T[];
  next: string;
  error: unknown;
  isLoading: boolean;
  /** Whether no page after the first one was asked for. */
  isFirstPage: boolean;
};

const nothingRead = { rows: [], next: '', error: undefined, isLoading: true, isFirstPage: true };

/** `key` names everything that the rows depend on; another key ends what is on its way, and undefined asks nothing. */
export function usePages<T>(
  key: string | undefined,
  load: (pageToken: string, signal: AbortSignal) => Promise<Page<T>>,
): Paged<T> {
  const [state, setState] = useState<State<T>>(nothingRead);
  const [round, setRound] = useState(0);
  const retries = useMemo(() => new Retries(), [key]);
  const running = useRef<AbortController | undefined>(undefined);
  /** `isQuiet`: as if nothing were on its way, so that the next page can be asked for meanwhile. */
  const read = async (token: string, isQuiet = false): Promise<void> => {
    running.current?.abort();
    retries.cancel();
    const end = new AbortController();
    running.current = end;
    const isFirstPage = token === '';
    if (!isQuiet) setState((last) => ({ ...last, error: undefined, isLoading: true, isFirstPage }));
    try {
      const { rows, next } = await load(token, end.signal);
      if (end.signal.aborted) return;
      retries.renew();
      setState((last) => ({
        rows: isFirstPage ? rows : [...last.rows, ...rows],
        ...{ next, error: undefined, isLoading: false, isFirstPage },
      }));
    } catch (cause) {
      if (end.signal.aborted) return;
      const error = retries.planAfter(cause, () => void read(token));
      setState((last) => ({ ...last, error, isLoading: false }));
    } finally {
      if (running.current === end) running.current = undefined;
    }
  };
  const shown = useRef(key);
  useEffect(() => {
    if (shown.current !== key) {
      shown.current = key;
      setState(nothingRead);
    }
    if (key !== undefined) void read('');
    return () => {
      running.current?.abort();
      retries.cancel();
    };
  }, [key, round]);
  // A list that failed while the service was away asks again by itself: the page that failed, and none before it.
  const reachable = isReachable.value;
  useEffect(() => {
    if (!reachable || state.error === undefined) return;
    void read(state.isFirstPage ? '' : state.next);
  }, [reachable]);
  return {
    ...state,
    isUpdating: state.isLoading && state.isFirstPage && state.rows.length > 0,
    hasMore: state.next !== '',
    more: () => {
      if (state.next !== '' && !state.isLoading && state.error === undefined) void read(state.next);
    },
    reload: () => {
      retries.renew();
      setRound((last) => last + 1);
    },
    refresh: () => {
      if (state.isFirstPage && running.current === undefined) void read('', true);
    },
  };
}

/**
 * The list with the rows of the question before, while those of another one are on their way. `scope`: what both are
 * of, such as a project.
 */
export function useOldRows<T>(list: Paged<T>, scope: string): Paged<T> {
  const old = useRef<{ scope: string; rows: readonly T[] }>({ scope, rows: [] });
  const isAnew = list.isLoading && list.rows.length === 0;
  if (!isAnew || old.current.scope !== scope) old.current = { scope, rows: list.rows };
  const { rows } = old.current;
  return { ...list, rows, isUpdating: list.isUpdating || (isAnew && rows.length > 0) };
}
