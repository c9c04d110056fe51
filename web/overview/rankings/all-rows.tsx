// All rows of a ranking that one answer has, with a search and in pages.

import { useState } from 'preact/hooks';
import { Field } from '../../fields/field.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Fault } from '../../ui/fault.tsx';
import { figure, plural } from '../../ui/figures.ts';
import { Loading } from '../../ui/loading.tsx';
import { mostGroups, type Ranking } from './cards.ts';
import { RankedList } from './ranked-list.tsx';
import { type RankedRow, scaleOf, searched } from './rows.ts';
import { type Asked, useAllRows } from './use-ranking.ts';

const rowsOfPage = 15;

export function AllRows(props: {
  asked: Asked;
  ranking: Ranking;
  label: string;
  onOpen: (row: RankedRow) => void;
  onClose: () => void;
}) {
  const { asked, ranking, label, onOpen, onClose } = props;
  const { rows, error, isLoading, reload } = useAllRows(asked, ranking);
  const [sought, setSought] = useState('');
  const [page, setPage] = useState(0);
  const found = searched(rows ?? [], sought);
  const shown = found.slice(page * rowsOfPage, (page + 1) * rowsOfPage);
  const search = (text: string): void => {
    setSought(text);
    setPage(0);
  };
  return (
    <Dialog title={label} class="all-rows" onClose={onClose}>
      <Field label="Search" type="search" value={sought} onValue={search} autoComplete="off" />
      <div class="all-rows-body" aria-busy={isLoading}>
        {error ? <Fault cause={error} retry={reload} /> : null}
        {!rows && !error ? <Loading of={ranking.name} /> : null}
        {rows && found.length === 0 ? (
          <p class="hint">{rows.length === 0 ? 'Nothing in this range.' : 'Nothing found.'}</p>
        ) : null}
        {rows && found.length > 0 ? (
          <RankedList {...{ label, ranking, isLoading, onOpen }} rows={shown} {...scaleOf(rows)} />
        ) : null}
      </div>
      {rows ? (
        <Pages count={found.length} page={page} onPage={setPage} isCut={isCut(rows)} />
      ) : null}
    </Dialog>
  );
}

function isCut(rows: readonly RankedRow[]): boolean {
  return rows.some(({ isRest }) => isRest);
}

function Pages(props: {
  count: number;
  page: number;
  onPage: (page: number) => void;
  isCut: boolean;
}) {
  const { count, page, onPage } = props;
  const last = Math.max(0, Math.ceil(count / rowsOfPage) - 1);
  const from = page * rowsOfPage;
  return (
    <div class="row between">
      <p class="hint" role="status">
        {count === 0
          ? 'No rows.'
          : `${figure(from + 1)} to ${figure(Math.min(count, from + rowsOfPage))} of ${plural(count, 'row')}.`}
        {props.isCut
          ? ` These are the ${mostGroups} greatest: the search knows no others, and a filter finds them.`
          : ''}
      </p>
      {last > 0 ? (
        <div class="row tight">
          <button type="button" disabled={page === 0} onClick={() => onPage(page - 1)}>
            Previous
          </button>
          <button type="button" disabled={page === last} onClick={() => onPage(page + 1)}>
            Next
          </button>
        </div>
      ) : null}
    </div>
  );
}
