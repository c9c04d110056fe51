// The period before a range that an answer is compared with, on the clock of a time zone.

import { dayMs, hourMs, minuteMs } from '../../../platform/clock.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { minQuestionMs } from '../../../platform/limits.ts';
import { dayAt, dayStart, firstMoment, wallMs } from '../../../platform/zones/wall-clock.ts';
import { Compare } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Range } from './plan-notes.ts';
import type { Question } from './question.ts';

/**
 * Undefined for a question that is not compared. By whole minutes of `nowMs`, so that questions of the same minute are
 * the same. Throws invalid_argument.
 */
export function comparedRange(
  { spec, timezone, fromMs, toMs }: Pick<Question, 'spec' | 'timezone' | 'fromMs' | 'toMs'>,
  nowMs: number,
): Range | undefined {
  const { compare } = spec;
  if (compare === Compare.UNSPECIFIED) return undefined;
  const nowMinuteMs = Math.ceil(nowMs / minuteMs) * minuteMs;
  const comeMs = Math.min(toMs, Math.max(nowMinuteMs, fromMs + minuteMs));
  const range = rangeOf(compare, timezone, { fromMs, toMs }, comeMs);
  if (range.fromMs >= minQuestionMs) return range;
  throw invalidArgument('spec.compare', 'asks for a time before 1970');
}

/** `comeMs`: how far the range has come. */
function rangeOf(compare: Compare, zone: string, range: Range, comeMs: number): Range {
  const come = { fromMs: range.fromMs, toMs: comeMs };
  switch (compare) {
    case Compare.PREVIOUS_PERIOD: {
      const fromMs = startBefore(range, zone);
      if (comeMs === range.toMs) return { fromMs, toMs: range.fromMs };
      return { fromMs, toMs: Math.min(fromMs + comeMs - range.fromMs, range.fromMs) };
    }
    case Compare.PREVIOUS_WEEK:
      return shifted(come, zone, (wall) => wall - 7 * dayMs);
    case Compare.PREVIOUS_MONTH:
      return shifted(come, zone, (wall) => monthsBefore(wall, 1));
    case Compare.PREVIOUS_YEAR:
      return shifted(come, zone, (wall) => monthsBefore(wall, 12));
    default:
      throw invalidArgument('spec.compare', `${Number(compare)} is not known`);
  }
}

/** When the period before begins: so many days of the calendar before whole days of the zone, else the same length. */
export function startBefore({ fromMs, toMs }: Range, zone: string): number {
  const [first, next] = [dayAt(zone, fromMs), dayAt(zone, toMs)];
  const areWhole = dayStart(zone, first) === fromMs && dayStart(zone, next) === toMs;
  return areWhole ? dayStart(zone, first - (next - first)) : fromMs - (toMs - fromMs);
}

/**
 * From the first to the last millisecond as the clock shows them, so that a range ends with the last day of a month. No
 * day longer than the range: a year with a leap day ends a day early.
 */
function shifted({ fromMs, toMs }: Range, zone: string, shift: (wall: number) => number): Range {
  const at = (ms: number): number => firstMoment(zone, shift(wallMs(zone, ms)));
  const startMs = at(fromMs);
  const endMs = at(toMs - 1) + 1;
  if (endMs <= startMs) return { fromMs: startMs, toMs: startMs + toMs - fromMs };
  const daysMs = Math.ceil((toMs - fromMs - hourMs) / dayMs) * dayMs;
  if (endMs - startMs <= daysMs + hourMs) return { fromMs: startMs, toMs: endMs };
  return { fromMs: startMs, toMs: firstMoment(zone, wallMs(zone, startMs) + daysMs) };
}

/** The same day of an earlier month, its last one where it is shorter. `wall`: a date and time as if it were UTC. */
function monthsBefore(wall: number, months: number): number {
  const date = new Date(wall);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() - months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), lastDay);
  return Date.UTC(year, month, day) + (((wall % dayMs) + dayMs) % dayMs);
}
