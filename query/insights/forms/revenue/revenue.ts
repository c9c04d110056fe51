// REVENUE: payments over time, each currency apart: their sum, by user and by paying user, and how many there are.

import { create } from '@bufbuild/protobuf';
import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import {
  AggregationType,
  type EventQuery,
  LeftOut_Reason,
  RevenueMeasure,
  TrendsResultSchema,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { both, eventCondition, eventsWhere, every } from '../../read/event-condition.ts';
import { readFormulas } from '../../read/formula.ts';
import { incompleteFrom } from '../../read/incomplete.ts';
import type { Question } from '../../read/question.ts';
import { eventCellsSql } from '../../sources/event-cells.ts';
import { eventsCounted, readAggregation } from '../../sql/aggregation.ts';
import { rankedGroupsSql } from '../../sql/ranked-groups.ts';
import {
  type AnsweredSeries,
  checkPoints,
  type Group,
  groupedRowsSql,
  groupsRowsSql,
  onlyPart,
  partTypes,
  readGroups,
  readLeftOut,
  valuesOf,
} from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import type { Plan } from '../plan.ts';
import { formulaSeries } from '../series/formula-series.ts';
import { averagedSeries } from '../series/moving-average.ts';
import { pointsOf } from '../values.ts';
import { currencyGroupsSql, known, maxCurrencies, placesOf, placesSql } from './currency-groups.ts';
import { isOfUsers, measureOf, type Payments, paymentRowsSql, type Split } from './payment-rows.ts';

const maxSeries = 10;
/** The well-known properties of a purchase. */
const amountProperty = 'amount';
const currencyProperty = 'currency';
/** Of the currency among the values of a group: no property has an empty name. */
const currencyKey = '';
/** The part of the statement with the groups of all series, whose own parts are their places. */
const groupsPart = -1;
/** Of groups whose place says all. */
const anyGroups = { breakdownKeys: [currencyKey], groupLimit: Number.POSITIVE_INFINITY };

/** Throws invalid_argument. */
export function planRevenue(question: Question): Plan {
  const series = readSeries(question);
  const formulas = readFormulas(question.spec);
  const split = splitOf(question);
  const rows = question.behind ? personsSql(split, series) : statementOf(split, series);
  const places = maxCurrencies * placesOf(split.groups);
  return {
    sql: rows,
    maxRows: question.behind?.maxPersons ?? (series.length + 1) * places + maxReasons + 1,
    read: (found, untilMs) => {
      const [beyond, ...groups] = groupsOf(split, found);
      const own = series.map((one, part) => answeredOf(groups, one, part, found));
      const answered = averagedSeries(question, own);
      const others = groups.filter(({ isOthers }) => isOthers);
      const all = [...answered, ...formulaSeries(question, formulas, answered)];
      const value = create(TrendsResultSchema, { series: shownSeries(question, all, untilMs) });
      const currencies = {
        reason: LeftOut_Reason.CURRENCIES_BEYOND_LIMIT,
        count: beyond?.folded ?? 0,
      };
      return {
        result: { case: 'revenue', value },
        leftOut: [...readLeftOut(found, others), currencies],
      };
    },
  };
}

function readSeries(question: Question): Payments[] {
  const { events, formulas } = question.spec;
  if (events.length === 0) throw invalidArgument('spec.events', 'must not be empty');
  if (events.length > maxSeries) throw invalidArgument('spec.events', `takes at most ${maxSeries}`);
  const answered = events.length + formulas.length;
  checkPoints(question, answered * maxCurrencies * question.buckets.length);
  return events.map((event, index) => readOne(question, event, `spec.events[${index}]`));
}

function readOne(question: Question, series: EventQuery, path: string): Payments {
  const { event, revenue: measure, aggregationProperty } = series;
  if (RevenueMeasure[measure] === undefined) {
    throw invalidArgument(`${path}.revenue`, `${Number(measure)} is not a measure`);
  }
  const paths = { type: `${path}.aggregation`, property: `${path}.aggregationProperty` };
  const property = aggregationProperty || amountProperty;
  const sum = readAggregation(AggregationType.SUM, property, paths, question);
  if (sum.counts !== 'events') throw new Error('a sum counts events');
  const hasNumber = eventsWhere(`(${sum.number} IS NOT NULL)`);
  const condition = both(eventCondition(event, `${path}.event`, question), hasNumber);
  return { kind: event?.kind ?? '', condition, sum, measure };
}

function splitOf(asked: Question): Split {
  const { breakdowns, breakdownKeys, groupLimit } = asked;
  const byCurrency = {
    ...asked,
    breakdowns: [currencyProperty, ...breakdowns],
    breakdownKeys: [currencyKey, ...breakdownKeys],
  };
  const limit = breakdowns.length === 0 ? 1 : groupLimit;
  return { asked, byCurrency, groups: { width: breakdowns.length + 1, limit } };
}

/** The rows of the groups and of the series, and of what is left out. */
function statementOf(split: Split, series: readonly Payments[]): string {
  const { asked, byCurrency, groups } = split;
  const whole = { ...byCurrency, buckets: [asked.fromMs] };
  const weights = series.map(({ condition }) =>
    eventCellsSql(whole, {
      ...{ condition, aggregation: eventsCounted },
      ...{ groups: byCurrency.breakdowns, buckets: whole.buckets },
    }),
  );
  const shared = currencyGroupsSql(weights, groups);
  const rows = series.map((one, part) => groupsRowsSql(part, paymentRowsSql(split, one)));
  const counted = series.flatMap(({ condition, measure }) => [
    { condition, countsUsers: isOfUsers({ revenue: measure }) },
    ...(measure === RevenueMeasure.PER_USER ? [{ condition: every, countsUsers: true }] : []),
  ]);
  const all = groupsRowsSql(groupsPart, placesSql(groups));
  const sql = groupedRowsSql([all, ...rows], leftOutSql(asked, counted), partTypes);
  return `WITH ${shared} AS ${known} SELECT * FROM (${sql})`;
}

/** Those who paid, whatever is measured. */
function personsSql({ byCurrency, groups }: Split, [payments]: readonly Payments[]): string {
  const { breakdowns, buckets, groupLimit: limit, behind } = byCurrency;
  const cells = {
    ...{ condition: payments?.condition ?? every, aggregation: eventsCounted },
    ...{ groups: breakdowns, buckets },
  };
  const { measure } = eventsCounted;
  const sql = eventCellsSql(byCurrency, cells);
  const ranked = rankedGroupsSql({ sql, groups: groups.width, limit, measure, behind });
  return groupsRowsSql(onlyPart, ranked);
}

/** Those of all series, in the order of their places; the first one is of the currencies beyond the limit. */
function groupsOf({ asked, byCurrency, groups }: Split, rows: readonly unknown[][]): Group[] {
  const { breakdownKeys } = byCurrency;
  return readGroups({ ...anyGroups, breakdownKeys }, rows, groupsPart).map((group) => ({
    ...group,
    isOthers:
      asked.breakdowns.length > 0 && group.place > 0 && group.place % placesOf(groups) === 0,
  }));
}

/** A series without payments of a group has nothing there. */
function answeredOf(
  groups: readonly Group[],
  payments: Payments,
  part: number,
  rows: readonly unknown[][],
): AnsweredSeries {
  const own = new Map(readGroups(anyGroups, rows, part).map(({ place, cells }) => [place, cells]));
  const nothing: Group['cells'] = new Map();
  return {
    ...{ kind: payments.kind, eventIndex: part },
    groups: groups.map((group) =>
      valuesOf({ ...group, cells: own.get(group.place) ?? nothing }, measureOf(payments)),
    ),
  };
}

function shownSeries(question: Question, series: readonly AnsweredSeries[], untilMs: number) {
  const incomplete = incompleteFrom(question, untilMs);
  return series.flatMap(({ kind, eventIndex, formulaIndex, groups }) =>
    groups.map((group) => {
      const { [currencyKey]: currency, ...breakdown } = group.breakdown;
      return {
        ...{ eventKind: kind, eventIndex, breakdown, isOthers: group.isOthers, ...incomplete },
        ...(formulaIndex !== undefined && { formulaIndex }),
        ...(currency !== undefined && { currency }),
        points: pointsOf(question, group.values),
      };
    }),
  );
}
