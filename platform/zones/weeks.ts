// The days that weeks begin on. Days are those of a calendar, numbered from 1970-01-01 = 0.

/** 1 is Monday, 7 Sunday, as ISO 8601 numbers them. */
export const monday = 1;
const daysOfWeek = 7;
/** 1970-01-01 was a Thursday. */
const weekdayOfFirstDay = 4;

/** How a project cuts time into days and weeks. */
export interface Calendar {
  /** IANA name. */
  timezone: string;
  /** The day that weeks begin on: 1 is Monday, 7 Sunday. */
  weekStart: number;
}

/** The day that weeks begin on in a project, 1 to 7. */
export type WeekStartOf = (projectId: string) => number;

/** Of a project's record: the day that weeks begin on, 1 to 7. */
export interface WeekSetting {
  weekStart?: number;
}

/** Monday where there is no record, or no day is set. */
export function weekStartOf(project: WeekSetting | undefined): number {
  return project?.weekStart ?? monday;
}

/** Whether it is a day that weeks may begin on. */
export function isWeekday(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= monday && Number(value) <= daysOfWeek;
}

/** 1 is Monday. */
export function weekdayOf(day: number): number {
  return daysSince(day, monday) + monday;
}

/** The first day of a day's week. */
export function firstDayOfWeek(day: number, weekStart: number): number {
  return day - daysSince(day, weekStart);
}

/** How many days ago the last such weekday was, the day itself included. */
function daysSince(day: number, weekday: number): number {
  const since = (day + weekdayOfFirstDay - weekday) % daysOfWeek;
  return since < 0 ? since + daysOfWeek : since;
}
