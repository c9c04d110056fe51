// The groups of payments. Each currency has groups of its own, and one of all its others, so that no number is made of
// two currencies. All series of a question have the same groups, ranked by the payments of all of them together.

import { groupValuesSql } from '../../sql/ranked-groups.ts';
import { noCellsSql, partTypes } from '../grouped-rows.ts';

/** Those with the most payments; ISO 4217 has some 180. */
export const maxCurrencies = 20;

/** Columns of the groups, the currency the first of them, and how many groups of a currency stay. */
export interface CurrencyGroups {
  width: number;
  limit: number;
}

/** How many places a currency has: those of its groups, and one for all others. */
export function placesOf({ limit }: Pick<CurrencyGroups, 'limit'>): number {
  return limit + 1;
}

/**
 * SQL of one value, which the engine finds once for a statement: the values of the groups that stay and their places;
 * the currencies, the greatest first, and how many groups each has; how many currencies there are. `cells` are SELECTs
 * of the groups' columns and a weight.
 */
export function currencyGroupsSql(cells: readonly string[], groups: CurrencyGroups): string {
  const { width, limit } = groups;
  const weights = cells.map(
    (sql) => `SELECT ${groupValuesSql(width)} AS values, toFloat64(weight) AS weight FROM (${sql})`,
  );
  const weighed = `SELECT values, sum(weight) AS weight FROM (${weights.join(' UNION ALL ')}) GROUP BY values`;
  // Without other groups a currency is one, and the engine plans three windows less.
  const only = `SELECT values, toUInt64(1) AS rank, toUInt64(1) AS groups, row_number() OVER (ORDER BY weight DESC, values) AS currency,
    count() OVER () AS currencies FROM (${weighed})`;
  const ofCurrency = 'OVER (PARTITION BY values[1])';
  const ranked = `SELECT values, row_number() OVER (PARTITION BY values[1] ORDER BY weight DESC, values) AS rank,
    count() ${ofCurrency} AS groups, sum(weight) ${ofCurrency} AS currency_weight FROM (${weighed})`;
  const placed = `SELECT values, rank, groups,
    dense_rank() OVER (ORDER BY currency_weight DESC, values[1]) AS currency FROM (${ranked})`;
  const counted = `SELECT *, max(currency) OVER () AS currencies FROM (${placed})`;
  const place = `toUInt64((currency - 1) * ${placesOf(groups)} + rank)`;
  return `(SELECT (groupArray(values), groupArray(${place}), groupArrayIf(values[1], rank = 1),
      groupArrayIf(toUInt64(groups), rank = 1), toUInt64(any(currencies)))
    FROM (SELECT * FROM (${width === 1 ? only : counted}) WHERE currency <= ${maxCurrencies} AND rank <= ${limit} ORDER BY currency, rank))`;
}

/** Under this name a statement's WITH has the value of currencyGroupsSql. */
export const known = 'currency_groups';

/** SELECT of (place, bucket, …columns) of cells with the groups' columns. Other currencies are left out. */
export function placedSql(
  cells: string,
  columns: readonly string[],
  groups: CurrencyGroups,
): string {
  const list = groupValuesSql(groups.width);
  return placedListsSql(`SELECT *, ${list} AS list FROM (${cells})`, columns, groups);
}

/** The same of users, who are of every currency: `cells` lack its column, and have a list `users`. */
export function placedUsersSql(cells: string, groups: CurrencyGroups): string {
  const list = `arrayPushFront(${groupValuesSql(groups.width - 1)}, money)`;
  const lists = `SELECT bucket, users, arrayJoin(${known}.3) AS money, ${list} AS list FROM (${cells})`;
  return placedListsSql(lists, ['users'], groups);
}

/** A currency whose groups all stay has no group of all others. */
function placedListsSql(rows: string, columns: readonly string[], groups: CurrencyGroups): string {
  const names = ['bucket', ...columns].join(', ');
  const found = `SELECT ${names}, list, indexOf(${known}.1, list) AS at, indexOf(${known}.3, list[1]) AS currency FROM (${rows})`;
  return `SELECT if(at > 0, ${known}.2[at], toUInt64(currency * ${placesOf(groups)})) AS place, ${names}
    FROM (${found}) WHERE at > 0 OR (currency > 0 AND ${known}.4[currency] > ${groups.limit})`;
}

/** SELECT of (place, bucket, users) of numbers of users that are the same for every currency. */
export function usersOfEachSql(cells: string, groups: CurrencyGroups): string {
  return `SELECT toUInt64((currency - 1) * ${placesOf(groups)} + 1) AS place, bucket, users
    FROM (SELECT bucket, a AS users, arrayJoin(arrayEnumerate(${known}.3)) AS currency FROM (${cells}))`;
}

/**
 * SELECT of (place, values, cells, folded) of all groups, no cells. That of all others has its currency alone; the
 * place 0 folds the currencies beyond the limit.
 */
export function placesSql({ limit }: CurrencyGroups): string {
  const places = placesOf({ limit });
  const others = `arrayMap(at -> ([${known}.3[at]], toUInt64(at * ${places}), toUInt64(${known}.4[at] - ${limit})),
    arrayFilter(at -> ${known}.4[at] > ${limit}, arrayEnumerate(${known}.3)))`;
  const beyond = `[(emptyArrayString(), toUInt64(0), toUInt64(greatest(toInt64(${known}.5) - ${maxCurrencies}, 0)))]`;
  const kept = `arrayMap((list, at) -> (list, at, toUInt64(1)), ${known}.1, ${known}.2)`;
  return `SELECT one.2 AS place, one.1 AS values, ${noCellsSql(partTypes)} AS cells, toUInt64(one.3) AS folded
    FROM (SELECT arrayJoin(arrayConcat(${kept}, ${others}, ${beyond})) AS one)`;
}
