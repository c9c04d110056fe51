// The numbers that events become: how each aggregation is made of parts, and of which column.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { AggregationType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Bindings } from '../../filters/bindings.ts';
import { placeOf } from '../../filters/property-condition.ts';
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
 * SELECT of some columns of `from`, of a and b, and of c: how many rows there are. `from` has the column `number` where
 * events have one, and user_key where users are counted.
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

type Scope = Pick<Question, 'bindings' | 'typesOf'>;
interface Paths {
  type: string;
  property: string;
}

/** Throws invalid_argument below `paths`. */
export function readAggregation(
  type: AggregationType,
  property: string,
  paths: Paths,
  scope: Scope,
): Aggregation {
  if (type <= AggregationType.PER_USER_AVG && property !== '') {
    throw invalidArgument(paths.property, 'is for aggregations of a property');
  }
  switch (type) {
    case AggregationType.UNSPECIFIED:
    case AggregationType.TOTAL:
      return eventsCounted;
    case AggregationType.UNIQUE_USERS:
      return usersCounted;
    case AggregationType.PER_USER_AVG:
      return {
        counts: 'users',
        of: 'events',
        cells: cellsOf({ a: 'toFloat64(count())', b: 'toFloat64(uniqExact(user_key))' }),
        ofUsers: { a: 'toFloat64(sum(events))', b: 'toFloat64(count())' },
        measure: divided,
      };
    default:
      return ofProperty(type, readPropertyName(property, paths.property), paths, scope);
  }
}

type OfProperty = Exclude<
  AggregationType,
  | AggregationType.UNSPECIFIED
  | AggregationType.TOTAL
  | AggregationType.UNIQUE_USERS
  | AggregationType.PER_USER_AVG
>;

function ofProperty(
  type: OfProperty,
  property: string,
  paths: Paths,
  { bindings, typesOf }: Scope,
): Aggregation {
  const number = (): string => numberSql(property, bindings);
  const ofNumber = (cells: CellsSql, measure: Measure): Aggregation => ({
    ...{ counts: 'events', number: number(), cells, measure },
  });
  const ofUsers = (perUser: 'sum' | 'mean'): Aggregation => ({
    ...{ counts: 'users', of: 'numbers', number: number(), perUser },
    measure: { combine: 'sumMap', isRatio: true },
  });
  switch (type) {
    case AggregationType.SUM:
      return ofNumber(exactSumsSql, { combine: 'sumMap', isRatio: false });
    case AggregationType.AVG:
      return ofNumber(exactSumsSql, { combine: 'sumMap', isRatio: true });
    case AggregationType.MIN:
      return ofNumber(extreme('min', 'inf'), { combine: 'min', isRatio: false });
    case AggregationType.MAX:
      return ofNumber(extreme('max', '-inf'), { combine: 'max', isRatio: false });
    case AggregationType.MEDIAN:
    case AggregationType.P75:
    case AggregationType.P90:
    case AggregationType.P95:
    case AggregationType.P99:
      return ofNumber(listed, {
        ...{ combine: 'groupArrayArray', isRatio: false, percent: percents[type] },
      });
    case AggregationType.DISTINCT_VALUES: {
      const text = propertyTextSql(property, bindings, typesOf(property));
      const measure: Measure = { combine: 'groupUniqArrayArray', isRatio: false };
      return { counts: 'events', number: text, cells: different, measure };
    }
    case AggregationType.SUM_PER_USER:
      return ofUsers('sum');
    case AggregationType.AVG_PER_USER:
      return ofUsers('mean');
    default: {
      const unknown: never = type;
      throw invalidArgument(paths.type, `${Number(unknown)} is not an aggregation`);
    }
  }
}

const percents = {
  [AggregationType.MEDIAN]: 50,
  [AggregationType.P75]: 75,
  [AggregationType.P90]: 90,
  [AggregationType.P95]: 95,
  [AggregationType.P99]: 99,
} as const;

/** Which zero comes first, 0 or -0, depends on the order of the rows: the answer is 0. */
function extreme(combine: 'min' | 'max', none: string): CellsSql {
  return cellsOf({ a: `ifNull(${combine}(number), ${none}) + 0`, b: 'toFloat64(count(number))' });
}

const listed: CellsSql = cellsOf({ a: 'groupArray(number)', b: 'toFloat64(count(number))' });

/** Texts of property-text.ts, by 128 bits of each: '' and '=' are no value. */
const isValue = "number NOT IN ('', '=')";
const different: CellsSql = cellsOf({
  a: `groupUniqArrayIf(sipHash128(number), ${isValue})`,
  b: `toFloat64(countIf(${isValue}))`,
});

function cellsOf({ a, b }: Parts): CellsSql {
  return (columns, from) =>
    `SELECT ${columns}, ${a} AS a, ${b} AS b, toFloat64(count()) AS c FROM (${from}) GROUP BY ${columns}`;
}

function numberSql(property: string, bindings: Bindings): string {
  const place = placeOf(property, bindings);
  const int = `toFloat64(${place.value('int_properties')})`;
  return `multiIf(${place.has('double_properties')}, ${place.value('double_properties')}, ${place.has('int_properties')}, ${int}, NULL)`;
}

/** The number of a cell; 0 where nothing was counted. A sum of doubles is finished by the statement (finishedSql). */
export function cellValue({ combine, isRatio }: Measure, a: number, b: number): number {
  if (b === 0 && (isRatio || combine !== 'sum')) return 0;
  return isRatio && combine !== 'sumMap' ? a / b : a;
}
