// The columns of stored events: those of the address, else those that this reader had last in this project, else the
// usual ones. The address names them whenever they are not the usual ones, so that a link shows the same.

import { useEffect, useState } from 'preact/hooks';
import { keepText, keptText } from '../browser/kept-text.ts';
import { address, setQuery } from '../router.ts';
import { session } from '../session.ts';
import {
  readColumns,
  type ShownColumn,
  usualColumns,
  withWidth,
  writeColumns,
} from './shown-columns.ts';

export interface ColumnsState {
  columns: readonly ShownColumn[];
  /** Whether nobody has chosen any. */
  areUsual: boolean;
  /** Shows and keeps others. */
  change: (next: readonly ShownColumn[]) => void;
  /** Shows a width until `keepWidth`: an address that changes with each pixel is refused by browsers. */
  tryWidth: (id: string, widthPx: number) => void;
  keepWidth: () => void;
}

export function useColumns(projectId: string): ColumnsState {
  const now = session.value;
  // Others who use the browser keep their own.
  const key = `millrace-columns ${now.state === 'signed-in' ? now.person.id : ''} ${projectId}`;
  const asked = readColumns(address.value.query.get('columns'));
  const last = asked ? undefined : readColumns(keptText(key));
  const [tried, setTried] = useState<{ id: string; widthPx: number }>();
  const chosen = asked ?? last ?? usualColumns;
  const lastText = last && writeColumns(last);
  useEffect(() => {
    if (lastText) setQuery({ columns: lastText }, { replace: true });
  }, [lastText]);
  const columns = tried ? withWidth(chosen, tried.id, tried.widthPx) : chosen;
  const change = (next: readonly ShownColumn[]): void => {
    setTried(undefined);
    const text = writeColumns(next);
    keepText(key, text);
    setQuery({ columns: text }, { replace: true });
  };
  return {
    ...{ columns, change },
    areUsual: writeColumns(columns) === undefined,
    tryWidth: (id, widthPx) => setTried({ id, widthPx }),
    keepWidth: () => {
      if (tried) change(columns);
    },
  };
}
