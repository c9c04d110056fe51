// The numbers that events become: how each aggregation is made of parts, and of which column.

import { AggregationType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Bindings } from '../../filters/bindings.ts';
import { placeOf } from '../../filters/property-condition.ts';
import { invalidArgument } from '../../invalid-argument.ts';
import { readPropertyName } from '../question/question.ts';
import type { Measure } from './ranked-groups.ts';

/** SQL for the two parts of a cell, each a Float64. */
interface Parts {
  a: string;
  b: string;
}

/** What an aggregation reads of each event, and what it makes of many. */
export type Aggregation =
  | {
      counts: 'events';
      /** SQL for the event's number, NULL where it has none; absent where events are counted. */
      number: string | undefined;
      /** Over events, with the column `number` where there is one. */
      ofEvents: Parts;
      measure: Measure;
    }
  | {
      counts: 'users';
      /** Over events of users, with the column user_key. */
      ofEvents: Parts;
      /** Over users, with the column `events`, the number of theirs. */
      ofUsers: Parts;
      measure: Measure;
    };

const whole: Measure = { combine: 'sum', isRatio: false };
const ratio: Measure = { combine: 'sum', isRatio: true };
const nothing = 'toFloat64(0)';
const numbers = 'toFloat64(count(number))';

/** Throws invalid_argument below `paths`. */
export function readAggregation(
  type: AggregationType,
  property: string,
  paths: { type: string; property: string },
  bindings: Bindings,
): Aggregation {
  const ofNumber = (a: string, measure: Measure): Aggregation => ({
    counts: 'events',
    number: numberSql(readPropertyName(property, paths.property), bindings),
    ofEvents: { a, b: numbers },
    measure,
  });
  switch (type) {
    case AggregationType.UNSPECIFIED:
    case AggregationType.TOTAL:
      return {
        counts: 'events',
        number: undefined,
        ofEvents: { a: 'toFloat64(count())', b: nothing },
        measure: whole,
      };
    case AggregationType.UNIQUE_USERS:
      return {
        counts: 'users',
        ofEvents: { a: 'toFloat64(uniqExact(user_key))', b: nothing },
        ofUsers: { a: 'toFloat64(count())', b: nothing },
        measure: whole,
      };
    case AggregationType.PER_USER_AVG:
      return {
        counts: 'users',
        ofEvents: { a: 'toFloat64(count())', b: 'toFloat64(uniqExact(user_key))' },
        ofUsers: { a: 'toFloat64(sum(events))', b: 'toFloat64(count())' },
        measure: ratio,
      };
    case AggregationType.SUM:
      return ofNumber('ifNull(sum(number), 0)', whole);
    case AggregationType.AVG:
      return ofNumber('ifNull(sum(number), 0)', ratio);
    case AggregationType.MIN:
      return ofNumber('ifNull(min(number), inf)', { combine: 'min', isRatio: false });
    case AggregationType.MAX:
      return ofNumber('ifNull(max(number), -inf)', { combine: 'max', isRatio: false });
    default: {
      const unknown: never = type;
      throw invalidArgument(paths.type, `${Number(unknown)} is not an aggregation`);
    }
  }
}

function numberSql(property: string, bindings: Bindings): string {
  const place = placeOf(property, bindings);
  const int = `toFloat64(${place.value('int_properties')})`;
  return `multiIf(${place.has('double_properties')}, ${place.value('double_properties')}, ${place.has('int_properties')}, ${int}, NULL)`;
}

/** The number of a cell; 0 where nothing was counted. */
export function cellValue({ combine, isRatio }: Measure, a: number, b: number): number {
  if (isRatio) return b === 0 ? 0 : a / b;
  return combine !== 'sum' && b === 0 ? 0 : a;
}
