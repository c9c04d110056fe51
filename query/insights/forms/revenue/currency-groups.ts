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
 * SELECT of (part, place, values, cells, folded). All groups of the currencies beyond the limit have the place 0; the
 * group of a currency's other groups has the currency as its only value. A cell is (bucket, sum by users, payments).
 * `rows` are SELECTs of (part, list, bucket, sums, users, active, payments), the currency the first of a list. Groups
 * without payments are in that of all others.
 */
export function currencyGroupsSql(question: Question, rows: readonly string[], limit: number) {
  const places = placesOf(limit);
  const groups = `SELECT list, sum(payments) AS weight, groupArray((part, bucket, sums, users, active, payments)) AS cells
    FROM (${rows.join(' UNION ALL ')}) GROUP BY list`;
  const ranked = rankedSql(groups, question.breakdowns.length > 0);
  const placed = `SELECT toUInt64(if(currency > ${maxCurrencies}, 0, (currency - 1) * ${places} + least(rank, ${places}))) AS place,
      multiIf(place = 0, emptyArrayString(), rank > ${limit}, [list[1]], list) AS values,
      toUInt64(multiIf(place = 0, total - ${maxCurrencies}, rank > ${limit}, paid - ${limit}, 1)) AS folded, cells
    FROM (${ranked}) WHERE rank <= paid OR paid > ${limit}`;
  const cells = `SELECT cell.1 AS part, place, values, folded, cell.2 AS bucket, cell.3 AS sums, cell.4 AS users, cell.5 AS active,
      cell.6 AS payments FROM (${placed}) ARRAY JOIN cells AS cell`;
  const users = 'greatest(length(users) + active, 1)';
  return `SELECT part, place, any(values) AS values, groupArray((bucket, ${exactTextSql('sums', users)}, payments)) AS cells,
      any(folded) AS folded FROM (${togetherSql(question, cells)}) GROUP BY part, place`;
}

/**
 * SELECT of (list, cells, rank, paid, currency, total): the rank of a group in its currency, how many groups of that
 * have payments, the rank of the currency, and how many there are. A row is one group at most, however many there are:
 * a value has its cells alone, and rows are sorted on disk where they are more than memory holds.
 */
function rankedSql(groups: string, isBrokenDown: boolean): string {
  // Without a breakdown a group is a currency, and the engine plans four windows less.
  if (!isBrokenDown) {
    return `SELECT list, cells, toUInt64(1) AS rank, toUInt64(weight > 0) AS paid,
      row_number() OVER (ORDER BY weight DESC, list) AS currency, count() OVER () AS total FROM (${groups})`;
  }
  const ofCurrency = 'OVER (PARTITION BY list[1])';
  const inCurrency = `SELECT list, cells, row_number() OVER (PARTITION BY list[1] ORDER BY weight DESC, list) AS rank,
      countIf(weight > 0) ${ofCurrency} AS paid, sum(weight) ${ofCurrency} AS currency_weight FROM (${groups})`;
  const ofAll = `SELECT *, dense_rank() OVER (ORDER BY currency_weight DESC, list[1]) AS currency FROM (${inCurrency})`;
  return `SELECT *, max(currency) OVER () AS total FROM (${ofAll})`;
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
