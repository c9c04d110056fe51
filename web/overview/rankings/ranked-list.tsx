// The rows of a ranking with two measures, and a bar behind each name. A row filters by what it stands for.

import { percent } from '../../../platform/words/figures.ts';
import { absentName } from '../../../platform/words/insight-words.ts';
import { readablePath } from '../../../platform/words/readable-path.ts';
import { ValueMark } from '../../marks/value-mark.tsx';
import { sourceOf } from '../../sources/source-of.ts';
import type { Ranking } from './cards.ts';
import type { RankedRow } from './rows.ts';

/** What is drawn of a ranking, as a list or on a map. */
export type DrawnRanking = {
  label: string;
  ranking: Ranking;
  rows: readonly RankedRow[];
  isLoading: boolean;
  onOpen: (row: RankedRow) => void;
};

/**
 * `total`: what shares are taken of. `most`: the value whose bar is as long as the list is wide. `isLoading`: the
 * second measure may be on its way; where it has come and lacks a row, the row has a dash.
 */
export function RankedList(props: DrawnRanking & { total: number; most: number }) {
  const { label, ranking, rows, total, most, isLoading, onOpen } = props;
  const { figure, second } = ranking;
  const secondName = second?.name ?? 'Share';
  return (
    <div class="ranked">
      <p class="ranked-head" aria-hidden="true">
        <span class="grow">{ranking.column}</span>
        <span>{secondName}</span>
        <span>{figure.name}</span>
      </p>
      <ol class="bars" aria-label={`${label}: ${secondName}, ${figure.name}`}>
        {rows.map((row) => {
          const inside = (
            <>
              {/* All others are no single thing: a bar of theirs would make stubs of the others'. */}
              {row.isRest ? null : <i style={{ width: `${(row.value / most) * 100}%` }} />}
              <RowName ranking={ranking} row={row} />
              <small title={second ? undefined : `Of all ${figure.name.toLowerCase()}`}>
                {second ? shown(row, isLoading, second.format) : share(row.value, total)}
              </small>
              <b title={`${share(row.value, total)} of all`}>{figure.format(row.value)}</b>
            </>
          );
          return (
            <li key={row.key} data-rest={row.isRest}>
              {row.isRest ? (
                <div>{inside}</div>
              ) : (
                <button type="button" onClick={() => onOpen(row)}>
                  {inside}
                </button>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}

function RowName({ ranking, row }: { ranking: Ranking; row: RankedRow }) {
  const { property, isOfSites } = ranking;
  const [text] = row.texts;
  const stored = row.texts.map((one) => one ?? absentName).join(', ');
  const isSite = isOfSites && text !== undefined && sourceOf(text) !== undefined;
  return (
    <>
      {property && !row.isRest ? <ValueMark property={property} value={text} /> : null}
      <span class="clip grow" title={stored || row.name}>
        {readablePath(row.name)}
        {isSite ? (
          <small> {row.texts.length > 1 ? `${row.texts.length} hosts` : text}</small>
        ) : null}
      </span>
    </>
  );
}

function shown(
  { second, isRest }: RankedRow,
  isLoading: boolean,
  format: (value: number) => string,
): string {
  if (second !== undefined) return format(second);
  return isRest || isLoading ? '' : '–';
}

function share(value: number, total: number): string {
  return total > 0 ? percent(value / total) : '';
}
