// Visits by country on a map, with the greatest of them below it: its code comes with the map.

import { WorldMap } from '../../charts/world-map.tsx';
import { type DrawnRanking, RankedList } from './ranked-list.tsx';
import { scaleOf } from './rows.ts';

const shownRows = 3;

export function PlaceMap(props: DrawnRanking) {
  const { label, rows } = props;
  const values = new Map(
    rows.flatMap(({ texts: [code], value }) =>
      code ? [[code.toUpperCase(), value] as const] : [],
    ),
  );
  return (
    <>
      <WorldMap label={`${label}: visits by country; the list has the figures`} values={values} />
      <RankedList {...props} {...scaleOf(rows)} rows={rows.slice(0, shownRows)} />
    </>
  );
}
