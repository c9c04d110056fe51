// All rows of a ranking, with a search and in pages.

import { useState } from 'preact/hooks';
import { figure, plural } from '../../../platform/words/figures.ts';
import { Field } from '../../fields/field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Loading } from '../../ui/loading.tsx';
import type { Ranking } from './cards.ts';
import { RankedList } from './ranked-list.tsx';
import { type RankedRow, scaleOf } from './rows.ts';
import { type Found, useFound } from './use-found.ts';
import { type Asked, type Ranked, useAllRows } from './use-ranking.ts';

const rowsOfPage = 15;
/** A search of the service takes 256 characters once they are folded. */
const maxSought = 80;

export function AllRows(props: {
  asked: Asked;
  ranking: Ranking;
  label: string;
  onOpen: (row: RankedRow) => void;
  onClose: () => void;
}) {
  const { asked, ranking, label, onOpen, onClose } = props;
  const first = useAllRows(asked, ranking);
  const [sought, setSought] = useState('');
  const text = sought.trim();
  return (
    <Dialog title={label} class="all-rows" onClose={onClose}>
      <Field
        label="Search"
        type="search"
        value={sought}
        onValue={setSought}
        autoComplete="off"
        maxLength={maxSought}
      />
      {first.rows ? (
        // Another text begins anew, on its first page.
        <FoundRows key={text} {...{ asked, ranking, label, onOpen, first, text }} />
      ) : (
        <div class="all-rows-body" aria-busy={first.isLoading}>
          {first.error ? (
            <Fault cause={first.error} retry={first.reload} />
          ) : (
            <Loading of={ranking.name} />
          )}
        </div>
      )}
    </Dialog>
  );
}

function FoundRows(props: {
  asked: Asked;
  ranking: Ranking;
  label: string;
  onOpen: (row: RankedRow) => void;
  first: Ranked;
  text: string;
}) {
  const { asked, ranking, label, onOpen, first, text } = props;
  const found = useFound(asked, ranking, first, text);
  const [page, setPage] = useState(0);
  const { rows, rest, error, isLoading, hasMore } = found;
  // While more rows may come the last page is the last full one: the next page begins where it ends.
  const pages = (hasMore ? Math.floor : Math.ceil)(rows.length / rowsOfPage);
  const last = Math.max(0, pages - 1);
  // The next page may be on its way, and may turn out to be empty.
  const at = isLoading ? page : Math.min(page, last);
  const cut = rows.slice(at * rowsOfPage, (at + 1) * rowsOfPage);
  const shown = rest && at === last ? [...cut, named(rest, text)] : cut;
  return (
    <>
      <div class="all-rows-body" aria-busy={first.isLoading || isLoading}>
        {error ? <Fault cause={error} retry={found.reload} /> : null}
        {shown.length > 0 ? (
          <RankedList
            {...{ label, ranking, onOpen }}
            isLoading={first.isLoading || isLoading}
            rows={shown}
            {...scaleOf(first.rows ?? [])}
          />
        ) : error ? null : isLoading ? (
          <Loading of={ranking.name} />
        ) : (
          <p class="hint">{text === '' ? 'Nothing in this range.' : 'Nothing found.'}</p>
        )}
      </div>
      <Pages {...{ found, last, text }} page={at} onPage={setPage} />
    </>
  );
}

/** Of a search, all others are those that have the text, too. */
function named(rest: RankedRow, text: string): RankedRow {
  return text === '' ? rest : { ...rest, name: `${rest.name} with “${text}”` };
}

function Pages(props: {
  found: Found;
  page: number;
  last: number;
  text: string;
  onPage: (page: number) => void;
}) {
  const { found, page, last, text, onPage } = props;
  const { rows, rest, count, isLoading, hasMore } = found;
  const isEnd = page >= last && !hasMore;
  const next = (): void => {
    if (isLoading && page >= last) return;
    if (page >= last) found.more();
    onPage(page + 1);
  };
  return (
    <div class="row between">
      <p class="hint" role="status">
        {said(rows.length, page, count)}
        {isLoading && text !== '' ? ' Searching all values…' : ''}
        {rest && isEnd ? ' More are here than can be paged: the search finds each of them.' : ''}
      </p>
      {last > 0 || hasMore ? (
        <div class="row tight">
          <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
            Previous
          </button>
          <button type="button" disabled={isEnd} onClick={next}>
            Next
          </button>
        </div>
      ) : null}
    </div>
  );
}

/** "16 to 30 of 1,240 rows." */
function said(here: number, page: number, count: number | undefined): string {
  const from = page * rowsOfPage;
  if (from >= here) return here === 0 ? 'No rows.' : '';
  const to = Math.min(here, from + rowsOfPage);
  const all = count === undefined ? `${figure(here)} rows or more` : plural(count, 'row');
  return `${figure(from + 1)} to ${figure(to)} of ${all}.`;
}
