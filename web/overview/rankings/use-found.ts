// The rows of a ranking that have a text: those of the greatest hundred at once, and where there are more than those,
// all that the service finds. Without a text, the hundreds behind them.

import { useEffect, useState } from 'preact/hooks';
import { usePages } from '../../pages.ts';
import { mostGroups, type Ranking } from './cards.ts';
import { type Joined, joined } from './joined.ts';
import { groupsInOthers, readMoreRows } from './more-rows.ts';
import { canExclude } from './narrowing.ts';
import { searched } from './rows.ts';
import { type Asked, type Ranked, rankingKey } from './use-ranking.ts';

const typingMs = 300;

export type Found = Joined & {
  error: unknown;
  isLoading: boolean;
  hasMore: boolean;
  more: () => void;
  reload: () => void;
};

/** `first`: the greatest hundred. Use it for one text only: another one is another component. */
export function useFound(asked: Asked, ranking: Ranking, first: Ranked, text: string): Found {
  const all = first.rows ?? [];
  const rest = all.find(({ isRest }) => isRest);
  const greatest = all.filter(({ isRest }) => !isRest);
  const known = greatest.flatMap(({ texts }) => texts);
  const isSearch = text !== '';
  const isTyped = useTyped();
  const [isBeyond, setBeyond] = useState(false);
  const isAsked = rest !== undefined && (isSearch ? isTyped : isBeyond);
  const key = isAsked ? rankingKey(asked, ranking, mostGroups) : undefined;
  const later = usePages(key && `${key} more ${text}`, (token, end) =>
    readMoreRows(asked, ranking, { text, known: isSearch ? [] : known, token }, end),
  );
  const here = isSearch ? searched(greatest, text) : greatest;
  const groups = first.answer && groupsInOthers(first.answer);
  const others = isSearch ? [] : rest ? [{ ...rest, ...(groups !== undefined && { groups }) }] : [];
  const isWaiting = isSearch && rest !== undefined && !isTyped;
  const mayGo = !isSearch && rest !== undefined && !isBeyond && canExclude(known);
  return {
    ...joined(here, [...others, ...(key ? later.rows : [])]),
    error: key ? later.error : undefined,
    isLoading: isWaiting || (key !== undefined && later.isLoading),
    hasMore: mayGo || (key !== undefined && (later.hasMore || (!isSearch && later.isLoading))),
    more: () => (mayGo ? setBeyond(true) : later.more()),
    reload: later.reload,
  };
}

/** Whether nothing was typed for a moment. */
function useTyped(): boolean {
  const [isTyped, setTyped] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setTyped(true), typingMs);
    return () => window.clearTimeout(timer);
  }, []);
  return isTyped;
}
