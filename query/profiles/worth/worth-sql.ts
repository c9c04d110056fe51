// The statement of what profiles paid and of what led them here first: one for all profiles of a page. It reads the
// days between their first event and their last one, and of each kind the rows that the keys of the profiles leave.

import { type Bindings, createBindings } from '../../filters/bindings.ts';
import { placeOf } from '../../filters/property-condition.ts';
import {
  idBytesSql,
  mergedIntoSql,
  profileIdSql,
  profileKeySql,
} from '../../identity/identity-sql.ts';
import { propertyTextSql } from '../../insights/sql/property-text.ts';
import type { Statement } from '../../read-rows.ts';

/** The well-known properties of a purchase (docs/insights.md, Revenue). */
const amountProperty = 'amount';
const currencyProperty = 'currency';
/** A profile with more has no sums: reading goes on with one more, whatever they are. */
export const maxPayments = 5_000;
/** As many as REVENUE answers. */
const maxCurrencies = 20;
/** Of a currency's text: nobody's page is to be longer than can be read, whatever senders call a currency. */
const currencyCharacters = 100;

/** One of a profile's payments and one of its first event, where there are any. */
export const rowsOfProfile = 2;

/** Of the shortest text of a double, "-0.1" or "1.5e300": whole digits, digits behind the point, exponent. */
const numberParts = '^(-?\\\\d+)\\\\.?(\\\\d*)e?([-+]?\\\\d*)$';

const noCurrencies = "CAST([], 'Array(Tuple(String, UInt64, Array(Int32), Array(String)))')";
const noSource = "CAST([], 'Array(String)')";

/** As a number, event_id sorts like its text. */
const firstSql = `argMin([toString(referrer_domain), toString(utm_source), toString(utm_medium), toString(utm_campaign)],
  (occur_time, toUInt128(event_id)))`;

/**
 * Rows of: id in hex; payments, at most one more than maxPayments; currencies; and of those with the most payments
 * their texts as of propertyTextSql, payments, and units: lists of exponents of ten and of whole numbers, whose sum is
 * that of the payments. Then referrer, source, medium and campaign of the first event. `ids` are roots, in hex; `seen`
 * the moments of the first and the last event of any of them, in milliseconds.
 */
export function worthSql(
  projectId: string,
  ids: readonly string[],
  seen: { firstMs: number; lastMs: number },
): Statement {
  const bindings = createBindings();
  const moment = (ms: number): string =>
    `fromUnixTimestamp64Milli(${bindings.bind('Int64', BigInt(ms))}, 'UTC')`;
  const project = bindings.bind('String', projectId);
  const asked = `arrayMap(id -> ${idBytesSql('id')}, ${bindings.bind('Array(String)', ids)})`;
  const members = '(SELECT arrayJoin(arrayConcat(asked, merged.1)) AS id)';
  const own = profileIdSql('project_id', 'distinct_id');
  const columns = `transform(${own}, merged.1, merged.2, ${own}) AS root`;
  const events = `FROM events WHERE project_id = ${project} AND NOT cookieless
    AND occur_time BETWEEN ${moment(seen.firstMs)} AND ${moment(seen.lastMs)}
    AND profile_key IN (SELECT ${profileKeySql('id')} FROM ${members}) AND ${own} IN ${members}`;
  const sql = `WITH ${asked} AS asked, ${mergedIntoSql(project, 'asked')} AS merged
    SELECT lower(hex(root)), payments, currencies,
      arrayMap(one -> substringUTF8(one.1, 1, ${currencyCharacters + 1}), most), arrayMap(one -> one.2, most),
      arrayMap(one -> one.3, most), arrayMap(one -> one.4, most), source
    FROM (
      ${sumsSql(paymentsSql(columns, events, bindings))}
      UNION ALL
      SELECT ${columns}, toUInt64(0) AS payments, toUInt64(0) AS currencies, ${noCurrencies} AS most, ${firstSql} AS source
      ${events} GROUP BY root)
    SETTINGS max_threads = 2`;
  return { sql, params: bindings.params };
}

/** SELECT of root, money, exponent and units: at most maxPayments and one of each root. */
function paymentsSql(columns: string, events: string, bindings: Bindings): string {
  const amount = placeOf(amountProperty, bindings);
  const [int, double] = [amount.value('int_properties'), amount.value('double_properties')];
  const isInt = amount.has('int_properties');
  const isNumber = `(${isInt} OR (${amount.has('double_properties')} AND isFinite(${double})))`;
  const payments = `SELECT ${columns}, ${isInt} AS is_int, ${int} AS whole,
      extractGroups(toString(${double}), '${numberParts}') AS parts,
      ${propertyTextSql(currencyProperty, bindings, undefined)} AS money
    ${events} AND ${isNumber} LIMIT ${maxPayments + 1} BY root`;
  return `SELECT root, money, if(is_int, 0, toInt32OrZero(parts[3]) - toInt32(length(parts[2]))) AS exponent,
      if(is_int, toInt256(whole), toInt256OrZero(concat(parts[1], parts[2]))) AS units FROM (${payments})`;
}

/** SELECT of one row of each root: payments are added up by currency and exponent. */
function sumsSql(payments: string): string {
  const units = `SELECT root, money, exponent, count() AS events, sum(units) AS units
    FROM (${payments}) GROUP BY root, money, exponent`;
  const sums = `SELECT root, if(money IN ('', '<', '='), '', money) AS money, sum(events) AS events,
    groupArray(exponent) AS exponents, groupArray(toString(units)) AS numbers FROM (${units}) GROUP BY root, money`;
  const most = `arraySort(one -> (-toInt64(one.2), one.1), groupArray((money, events, exponents, numbers)))`;
  return `SELECT root, sum(events) AS payments, count() AS currencies, arraySlice(${most}, 1, ${maxCurrencies}) AS most,
      ${noSource} AS source FROM (${sums}) GROUP BY root`;
}
