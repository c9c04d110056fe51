// The greatest groups. Groups of persons open the person.

import { absentName, othersName } from '../../platform/words/insight-words.ts';
import { kindName } from '../../platform/words/value-words.ts';
import {
  TopKQuery_Dimension as Dimension,
  type InsightQuerySpec,
  type TopKResult,
  type TopKRow,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { exactKindName, namer } from '../text/namer.ts';
import { userName } from '../text/user-name.ts';
import { hasShares } from './drawings/drawings.ts';
import { Ranking } from './drawings/ranking.tsx';
import { GroupMark } from './group-mark.tsx';
import { valueName } from './names.ts';
import type { Rows, Shown } from './shown.ts';

export function TopList(shown: Shown<TopKResult>) {
  const { spec, result, previous, label, onOpen, onPersons } = shown;
  const dimension = spec.topK?.dimension ?? Dimension.UNSPECIFIED;
  const places = new Map(
    [result, previous].flatMap((one) =>
      [...(one?.rows.entries() ?? [])].map(([at, row]) => [row, at] as const),
    ),
  );
  const nameOf = namer(places.keys(), (row, isExact) =>
    rowName(spec, row, places.get(row) ?? 0, isExact),
  );
  const rows = result.rows.map((row) => ({ row, name: nameOf(row) }));
  const former = new Map(previous?.rows.map((row) => [nameOf(row), row.value ?? 0]));
  return (
    <>
      <Ranking
        drawn={shown.drawn}
        hasShares={hasShares(spec)}
        label={label}
        values={rows.map(({ row, name }) => ({
          ...{ name, value: row.value ?? 0, isRest: row.isOthers },
          mark: row.isOthers ? null : (
            <GroupMark
              spec={spec}
              property={spec.topK?.property ?? ''}
              value={row.isAbsent ? undefined : row.dimensionValue}
            />
          ),
        }))}
        {...(onOpen || onPersons
          ? {
              onOpen: ({ name }: { name: string }) => {
                const found = rows.find((one) => one.name === name)?.row;
                if (!found) return;
                const behind = rowsOf(shown, dimension, found);
                if (!onPersons || dimension === Dimension.USER) return onOpen?.(behind);
                const { dimensionValue } = found;
                const point = dimensionValue === undefined ? {} : { dimensionValue };
                onPersons({ title: name, figures: [{ name, point }], rows: behind });
              },
            }
          : {})}
      />
      <DataTable
        isHidden={shown.isTile}
        isAlone={shown.drawn === 'table'}
        label={label}
        grid={{
          columns: ['Group', 'Value', ...(previous ? ['Before'] : [])],
          // Drawings alone leave out what is exact: a file goes to who knows nothing of the others.
          rows: rows.map(({ row, name }, index) => [
            rowName(spec, row, index, true),
            row.value ?? 0,
            ...(previous ? [former.get(name) ?? 0] : []),
          ]),
        }}
      />
    </>
  );
}

function rowsOf({ spec }: Shown<TopKResult>, dimension: Dimension, row: TopKRow): Rows {
  const kind = spec.topK?.scope?.kind ?? '';
  const { dimensionValue = '' } = row;
  switch (dimension) {
    case Dimension.EVENT_KIND:
      return { kind: dimensionValue };
    case Dimension.USER:
      return { kind, profileId: dimensionValue };
    default:
      return {
        kind,
        breakdown: row.isAbsent ? {} : { [spec.topK?.property ?? '']: dimensionValue },
      };
  }
}

/** Strangers see the places of persons, not the persons. */
function rowName(
  { topK }: InsightQuerySpec,
  row: TopKRow,
  index: number,
  isExact: boolean,
): string {
  if (row.isOthers) return othersName;
  if (row.isAbsent) return absentName;
  const { dimensionValue = '' } = row;
  switch (topK?.dimension) {
    case Dimension.EVENT_KIND:
      return isExact ? exactKindName(dimensionValue) : kindName(dimensionValue);
    case Dimension.USER: {
      const { externalId = '', properties } = row.profile ?? {};
      if (externalId === '' && dimensionValue === '') return `User ${index + 1}`;
      const name = userName({ id: dimensionValue, externalId, properties });
      const id = externalId || dimensionValue;
      return isExact && name !== id ? `${name} (${id})` : name;
    }
    default:
      return valueName(topK?.property ?? '', dimensionValue, isExact);
  }
}
