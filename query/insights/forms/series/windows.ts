// Which series of a question count more than each bucket, and the rules of that.

import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import {
  AggregationType,
  type EventQuery,
  Granularity,
  type InsightQuerySpec,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Question } from '../../read/question.ts';
import type { Window } from './window-users.ts';

const maxDays = 90;

/** Of a checked question. */
export function windowOf(spec: InsightQuerySpec, series: EventQuery): Window | undefined {
  if (!addsUp(series)) return undefined;
  if (series.aggregation !== AggregationType.UNIQUE_USERS) {
    return spec.cumulative ? 'cumulative' : undefined;
  }
  const days = series.rollingDays || spec.rollingDays;
  if (days > 1) return { days };
  return spec.cumulative ? 'cumulative' : undefined;
}

/** Whether more than one bucket together say something: users who count once, events and sums. */
function addsUp({ aggregation }: EventQuery): boolean {
  const { UNSPECIFIED, TOTAL, SUM, UNIQUE_USERS } = AggregationType;
  return [UNSPECIFIED, TOTAL, SUM, UNIQUE_USERS].includes(aggregation);
}

/** Throws invalid_argument. */
export function checkWindows({ spec, granularity, breakdowns }: Question): void {
  const { rollingDays, cumulative, events } = spec;
  const check = (field: string, days: number, least: number): void => {
    if (days === 0) return;
    if (days < least || days > maxDays) {
      throw invalidArgument(field, `must be from ${least} to ${maxDays}`);
    }
    if (granularity !== Granularity.DAY) throw invalidArgument(field, 'is for the granularity DAY');
    if (cumulative) throw invalidArgument(field, 'must be 0 where cumulative is set');
  };
  check('spec.rollingDays', rollingDays, 2);
  for (const [index, series] of events.entries()) {
    const field = `spec.events[${index}].rollingDays`;
    check(field, series.rollingDays, 1);
    if (series.rollingDays > 0 && series.aggregation !== AggregationType.UNIQUE_USERS) {
      throw invalidArgument(field, 'is for UNIQUE_USERS');
    }
  }
  const counts = ({ aggregation }: EventQuery) => aggregation === AggregationType.UNIQUE_USERS;
  if (rollingDays > 0 && !events.some(counts)) {
    throw invalidArgument('spec.rollingDays', 'is for series of UNIQUE_USERS');
  }
  if (cumulative && !events.some(addsUp)) {
    throw invalidArgument('spec.cumulative', 'is for series of UNIQUE_USERS, TOTAL and SUM');
  }
  if (breakdowns.length > 0 && events.some((series) => windowOf(spec, series) !== undefined)) {
    throw invalidArgument(
      'spec.breakdowns',
      'must be empty where series are rolling or cumulative',
    );
  }
}
