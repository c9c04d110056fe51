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
import { added, rankedGroupsSql } from '../../sql/ranked-groups.ts';
import {
  type AnsweredSeries,
  checkSeries,
  type Group,
  groupedRowsSql,
  groupsRowsSql,
  onlyPart,
  readGroups,
  readLeftOut,
  valuesOf,
} from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import type { Plan } from '../plan.ts';
import { formulaSeries } from '../series/formula-series.ts';
import { averagedSeries } from '../series/moving-average.ts';
import { pointsOf } from '../values.ts';
import { currencyGroupsSql, maxCurrencies, placesOf } from './currency-groups.ts';
import {
  currenciesSql,
  isOfUsers,
  type Payments,
  paymentRowsSql,
  type Split,
} from './payment-rows.ts';

/** The well-known properties of a purchase. */
const amountProperty = 'amount';
const currencyProperty = 'currency';
/** Of the currency among the values of a group: no property has an empty name. */
const currencyKey = '';

/** Throws invalid_argument. */
export function planRevenue(question: Question): Plan {
  const series = readSeries(question);
  const formulas = readFormulas(question.spec);
  const split = splitOf(question);
  const rows = question.behind ? personsSql(split, series) : statementOf(split, series);
  const places = placesOf(limitOf(question));
  const maxGroups = maxCurrencies * places + 1;
  const { breakdownKeys } = split.byCurrency;
  const anyGroups = { breakdownKeys, groupLimit: Number.POSITIVE_INFINITY };
  return {
    sql: rows,
    maxRows: question.behind?.maxPersons ?? series.length * maxGroups + maxReasons,
    read: (found, untilMs) => {
      const own = series.map((_, part) => readGroups(anyGroups, found, part));
      const { beyond, groups } = allGroups(own.flat(), places);
      const answered = averagedSeries(
        question,
        series.map((one, part) => answeredOf(groups, own[part] ?? [], one, part)),
      );
      const others = groups.filter(({ isOthers }) => isOthers);
      const all = [...answered, ...formulaSeries(question, formulas, answered)];
      const value = create(TrendsResultSchema, { series: shownSeries(question, all, untilMs) });
      const currencies = { reason: LeftOut_Reason.CURRENCIES_BEYOND_LIMIT, count: beyond };
      return {
        result: { case: 'revenue', value },
        leftOut: [...readLeftOut(found, others), currencies],
      };
    },
  };
}

function readSeries(question: Question): Payments[] {
  checkSeries(question, maxCurrencies);
  return question.spec.events.map((event, index) =>
    readOne(question, event, `spec.events[${index}]`),
  );
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
  const { breakdowns, breakdownKeys } = asked;
  const byCurrency = {
    ...asked,
    breakdowns: [currencyProperty, ...breakdowns],
    breakdownKeys: [currencyKey, ...breakdownKeys],
  };
  return { asked, byCurrency };
}

/** How many groups of a currency stay. */
function limitOf({ breakdowns, groupLimit }: Question): number {
  return breakdowns.length === 0 ? 1 : groupLimit;
}

/** The rows of the series, and of what is left out. */
function statementOf(split: Split, series: readonly Payments[]): string {
  const { asked } = split;
  const currencies = (): string => currenciesSql(split, series);
  const own = series.map((one) => paymentRowsSql(split, one, currencies));
  // A mean payment is of a sum and a number of the same payments, which are read once.
  const rows = [...new Set(own.flat())].map((sql) => {
    const parts = own.flatMap((sqls, part) => (sqls.includes(sql) ? [part] : []));
    return `SELECT arrayJoin([${parts.join(', ')}]) AS part, * FROM (${sql})`;
  });
  const counted = series.flatMap(({ condition, measure }) => [
    { condition, countsUsers: isOfUsers({ revenue: measure }) },
    ...(measure === RevenueMeasure.PER_USER ? [{ condition: every, countsUsers: true }] : []),
  ]);
  const groups = currencyGroupsSql(asked, rows, limitOf(asked));
  return groupedRowsSql([groups], leftOutSql(asked, counted));
}

/** Those who paid, whatever is measured. */
function personsSql({ byCurrency }: Split, [payments]: readonly Payments[]): string {
  const { breakdowns, buckets, groupLimit: limit, behind } = byCurrency;
  const cells = {
    ...{ condition: payments?.condition ?? every, aggregation: eventsCounted },
    ...{ groups: breakdowns, buckets },
  };
  const { measure } = eventsCounted;
  const sql = eventCellsSql(byCurrency, cells);
  const ranked = rankedGroupsSql({ sql, groups: breakdowns.length, limit, measure, behind });
  return groupsRowsSql(onlyPart, ranked);
}

/** Those of all series, in the order of their places, and how many currencies there are besides. */
function allGroups(found: readonly Group[], places: number): { beyond: number; groups: Group[] } {
  const byPlace = new Map(found.map((group) => [group.place, group]));
  const beyond = byPlace.get(0)?.folded ?? 0;
  byPlace.delete(0);
  const groups = [...byPlace.values()].toSorted((one, other) => one.place - other.place);
  return { beyond, groups: groups.map((one) => ({ ...one, isOthers: one.place % places === 0 })) };
}

/** A series without payments of a group has nothing there. */
function answeredOf(
  groups: readonly Group[],
  own: readonly Group[],
  { kind, measure }: Payments,
  eventIndex: number,
): AnsweredSeries {
  const cellsOf = new Map(own.map(({ place, cells }) => [place, cells]));
  const nothing: Group['cells'] = new Map();
  const isCount = measure === RevenueMeasure.PAYMENTS;
  const partsOf = (cell: readonly number[]): readonly number[] => (isCount ? cell.slice(1) : cell);
  return {
    ...{ kind, eventIndex },
    groups: groups.map((group) =>
      valuesOf({ ...group, cells: cellsOf.get(group.place) ?? nothing }, added, partsOf),
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
