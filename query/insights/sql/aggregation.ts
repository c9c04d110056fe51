// The numbers that events become: how each aggregation is made of parts, and of which column.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { AggregationType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Bindings } from '../../filters/bindings.ts';
import { placeOf } from '../../filters/property-condition.ts';
import type { PropertyTypes, StoredType } from '../read/property-types.ts';
import { type Question, readPropertyName } from '../read/question.ts';
import { exactSumsSql } from './exact-sum.ts';
import { propertyTextSql } from './property-text.ts';
import { added, divided, type Measure } from './ranked-groups.ts';

/** SQL for the two parts of a cell, each a Float64. */
interface Parts {
  a: string;
  b: string;
}

/**
 * SELECT of some columns of `from`, of a and b, and of weight: how many rows there are. `from` has the column `number`
 * where events have one, and user_key where users are counted.
 */
type CellsSql = (columns: string, from: string) => string;

/** What an aggregation reads of each event, and what it makes of many. */
export type Aggregation =
  | {
      counts: 'events';
      /** SQL for the event's number or value, NULL where it has none; absent where events are counted. */
      number: string | undefined;
      cells: CellsSql;
      measure: Measure;
    }
  | {
      counts: 'users';
      of: 'events';
      cells: CellsSql;
      /** Over users, with the column `events`, the number of theirs. */
      ofUsers: Parts;
      measure: Measure;
    }
  | {
      counts: 'users';
      of: 'numbers';
      /** SQL for the event's number, NULL where it has none. */
      number: string;
      perUser: 'sum' | 'mean';
      /** A mean of any numbers; of usual ones alone unless set, with what it counts NaN where there are others. */
      isGeneral?: boolean;
      measure: Measure;
    };

/** What TOP_K can rank by. */
export type RankedAggregation = Exclude<Aggregation, { of: 'numbers' }>;

const nothing = 'toFloat64(0)';

/** Each event once. */
export const eventsCounted: Extract<Aggregation, { counts: 'events' }> = {
  counts: 'events',
  number: undefined,
  cells: cellsOf({ a: 'toFloat64(count())', b: nothing }),
  measure: added,
};

/** Each user once. */
export const usersCounted: Extract<Aggregation, { of: 'events' }> = {
  counts: 'users',
  of: 'events',
  cells: cellsOf({ a: 'toFloat64(uniqExact(user_key))', b: nothing }),
  ofUsers: { a: 'toFloat64(count())', b: nothing },
  measure: added,
};

/** SQL for what an aggregation reads of an event; NULL, or '' for the text, where it has none. */
interface Column {
  number(): string;
  text(): string;
}

type OfProperty = (column: Column) => Aggregation;

function ofNumber(cells: CellsSql, measure: Measure): OfProperty {
  return ({ number }) => ({ ...{ counts: 'events', number: number(), cells, measure } });
}

/** Which zero comes first, 0 or -0, depends on the order of the rows: the answer is 0. */
function extreme(combine: 'min' | 'max', none: string): OfProperty {
  const a = `ifNull(${combine}(number), ${none}) + 0`;
  const cells = cellsOf({ a, b: 'toFloat64(count(number))' });
  return ofNumber(cells, { combine, isRatio: false });
}

/**
 * The number at the place `percent` in a hundred of all, rounded up, in ascending order. The engine's quantileExact
 * takes the place after `level` of all, rounded down: a level that is less by a billionth of a hundredth lies between
 * the two places wherever they differ, up to a thousand million numbers. It skips NaN.
 */
function percentile(percent: number): OfProperty {
  const level = (percent / 100 - 1e-11).toFixed(11);
  const a = `quantileExactState(${level})(ifNull(number, nan))`;
  const cells = cellsOf({ a, b: 'toFloat64(count(number))' });
  return ofNumber(cells, { combine: `quantileExactMergeState(${level})`, isRatio: false });
}

function ofUsers(perUser: 'sum' | 'mean'): OfProperty {
  const measure: Measure = { combine: 'sumMap', isRatio: true };
  return ({ number }) => ({ counts: 'users', of: 'numbers', number: number(), perUser, measure });
}

/** Texts of property-text.ts, by 128 bits of each: '' and '=' are no value. */
function differentValues({ text }: Column): Aggregation {
  const isValue = "number NOT IN ('', '=')";
  const a = `groupUniqArrayIf(sipHash128(number), ${isValue})`;
  return {
    ...{ counts: 'events', number: text() },
    cells: cellsOf({ a, b: `toFloat64(countIf(${isValue}))` }),
    measure: { combine: 'groupUniqArrayArray', isRatio: false },
  };
}

const aggregations: Readonly<Record<AggregationType, Aggregation | OfProperty>> = {
  [AggregationType.UNSPECIFIED]: eventsCounted,
  [AggregationType.TOTAL]: eventsCounted,
  [AggregationType.UNIQUE_USERS]: usersCounted,
  [AggregationType.PER_USER_AVG]: {
    ...{ counts: 'users', of: 'events' },
    cells: cellsOf({ a: 'toFloat64(count())', b: 'toFloat64(uniqExact(user_key))' }),
    ofUsers: { a: 'toFloat64(sum(events))', b: 'toFloat64(count())' },
    measure: divided,
  },
  [AggregationType.SUM]: ofNumber(exactSumsSql, { combine: 'sumMap', isRatio: false }),
  [AggregationType.AVG]: ofNumber(exactSumsSql, { combine: 'sumMap', isRatio: true }),
  [AggregationType.MIN]: extreme('min', 'inf'),
  [AggregationType.MAX]: extreme('max', '-inf'),
  [AggregationType.MEDIAN]: percentile(50),
  [AggregationType.P75]: percentile(75),
  [AggregationType.P90]: percentile(90),
  [AggregationType.P95]: percentile(95),
  [AggregationType.P99]: percentile(99),
  [AggregationType.DISTINCT_VALUES]: differentValues,
  [AggregationType.SUM_PER_USER]: ofUsers('sum'),
  [AggregationType.AVG_PER_USER]: ofUsers('mean'),
};

/** Throws invalid_argument below `paths`. */
export function readAggregation(
  type: AggregationType,
  property: string,
  paths: { type: string; property: string },
  { bindings, typesOf }: Question,
): Aggregation {
  const found: Aggregation | OfProperty | undefined = aggregations[type];
  if (found === undefined) {
    throw invalidArgument(paths.type, `${Number(type)} is not an aggregation`);
  }
  if (typeof found === 'function') {
    const name = readPropertyName(property, paths.property);
    return found({
      number: () => numberSql(name, bindings, typesOf(name)),
      text: () => propertyTextSql(name, bindings, typesOf(name)),
    });
  }
  if (property === '') return found;
  throw invalidArgument(paths.property, 'is for aggregations of a property');
}

function cellsOf({ a, b }: Parts): CellsSql {
  return (columns, from) =>
    `SELECT ${columns}, ${a} AS a, ${b} AS b, toFloat64(count()) AS weight FROM (${from}) GROUP BY ${columns}`;
}

/** `types` are those that the property was ever stored with; all where unknown. */
function numberSql(property: string, bindings: Bindings, types: PropertyTypes | undefined): string {
  const place = placeOf(property, bindings);
  const isStored = (type: StoredType): boolean => types === undefined || types.has(type);
  const numbers = [
    ...(isStored('double') ? [place.valueOrNull('double_properties')] : []),
    ...(isStored('int') ? [`toFloat64(${place.valueOrNull('int_properties')})`] : []),
  ];
  const [only = "CAST(NULL, 'Nullable(Float64)')"] = numbers;
  return numbers.length > 1 ? `coalesce(${numbers.join(', ')})` : only;
}

/** The number of a cell; 0 where nothing was counted. A sum of doubles is divided already (nearest-double.ts). */
export function cellValue({ combine, isRatio }: Measure, a: number, b: number): number {
  if (b === 0 && (isRatio || combine !== 'sum')) return 0;
  return isRatio && combine !== 'sumMap' ? a / b : a;
}
