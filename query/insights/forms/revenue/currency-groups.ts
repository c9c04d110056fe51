// The groups of payments. Each currency has groups of its own, and one of all its others, so that no number is made of
// two currencies. All series of a question have the same groups, ranked by the payments of all of them together.

import type { Question } from '../../read/question.ts';
import { exactTextSql } from '../../sql/nearest-double.ts';
import { laterBucketsSql } from '../series/added-up.ts';

/** Those with the most payments; ISO 4217 has some 180. */
export const maxCurrencies = 20;

/** How many places a currency has: those of its groups, and one for all others. */
export function placesOf(limit: number): number {
  return limit + 1;
}

/**
 * SELECT of (part, place, values, cells, folded), of which groups of other currencies have the place 0 and that of all
 * others its currency alone; a cell is (bucket, sum by users, payments). `rows` are SELECTs of (part, list, bucket,
 * sums, users, active, payments), the currency the first of a list. Groups without payments are in that of all others.
 */
export function currencyGroupsSql(question: Question, rows: readonly string[], limit: number) {
  const places = placesOf(limit);
  const groups = `SELECT list, sum(payments) AS weight, groupArray((part, bucket, sums, users, active, payments)) AS cells
    FROM (${rows.join(' UNION ALL ')}) GROUP BY list`;
  const currencies = `SELECT list[1] AS money, arraySort(one -> (-one.2, one.1), groupArray((list, weight, cells))) AS groups,
      countIf(weight > 0) AS paid, row_number() OVER (ORDER BY sum(weight) DESC, money) AS currency, count() OVER () AS total
    FROM (${groups}) GROUP BY money`;
  const placed = `SELECT toUInt64(if(currency > ${maxCurrencies}, 0, (currency - 1) * ${places} + least(rank, ${places}))) AS place,
      multiIf(place = 0, emptyArrayString(), rank > ${limit}, [money], one.1) AS values,
      toUInt64(multiIf(place = 0, total - ${maxCurrencies}, rank > ${limit}, paid - ${limit}, 1)) AS folded, one.3 AS cells
    FROM (${currencies}) ARRAY JOIN groups AS one, arrayEnumerate(groups) AS rank WHERE rank <= paid OR paid > ${limit}`;
  const cells = `SELECT cell.1 AS part, place, values, folded, cell.2 AS bucket, cell.3 AS sums, cell.4 AS users, cell.5 AS active,
      cell.6 AS payments FROM (${placed}) ARRAY JOIN cells AS cell`;
  const users = 'greatest(length(users) + active, 1)';
  return `SELECT part, place, any(values) AS values, groupArray((bucket, ${exactTextSql('sums', users)}, payments)) AS cells,
      any(folded) AS folded FROM (${togetherSql(question, cells)}) GROUP BY part, place`;
}

/** One row for each place and bucket; cumulative, with all buckets before it. */
function togetherSql(question: Question, cells: string): string {
  const { buckets, spec } = question;
  const grouped = (rows: string): string =>
    `SELECT part, place, bucket, any(one.values) AS values, any(one.folded) AS folded, sumMap(one.sums) AS sums,
      groupUniqArrayArray(one.users) AS users, max(one.active) AS active, sum(one.payments) AS payments
    FROM (${rows}) AS one GROUP BY part, place, bucket`;
  const each = grouped(cells);
  if (!spec.cumulative || buckets.length === 1) return each;
  const named = `SELECT * EXCEPT (bucket), bucket AS earlier FROM (${each})`;
  return grouped(`SELECT *, ${laterBucketsSql(question)} AS bucket FROM (${named})`);
}
