// SELECT of the events that a part of a question counts, with the columns that the part asks for. Every statement of an
// insight that reads raw events is built on it.

import { dayMs } from '../../../platform/clock.ts';
import type { Bindings } from '../../filters/bindings.ts';
import { livingProfilesSql } from '../../identity/identity-sql.ts';
import { both, type EventCondition, eventsWhere } from '../read/event-condition.ts';
import type { Range } from '../read/plan-notes.ts';
import { type Question, segmentOf, traitOf } from '../read/question.ts';
import { byPerson, listedKeysSql, personGroupSql, personJoinSql, userKeySql } from './persons.ts';
import { propertyTextSql, traitTextSql } from './property-text.ts';

/** The last one that a Date can be: toDate takes a greater number for seconds. */
const lastDay = 65_535;

export interface EventRead {
  /** Besides the filter groups. */
  condition: EventCondition;
  /** Result columns by name: SQL over columns of `events`. `occur_time` and `event_id` need no entry. */
  columns?: Readonly<Record<string, string>>;
  /** Also answers user_key, 0 for an event without a user, and cookieless. */
  withUser?: boolean;
  /**
   * To answer as the columns group_0, group_1, …: properties or traits, in the form of property-text.ts, or byPerson.
   */
  groups?: readonly string[];
  /** Half-open, in milliseconds; the question's range unless given. */
  fromMs?: number;
  toMs?: number;
  /** In place of the range: a list of UTC days. */
  days?: string;
  /** Only events received after `as_of`, in place of those received until then. */
  receivedLater?: boolean;
}

/** A SELECT without ORDER BY; its rows have occur_time, event_id and the columns asked for. */
export function readEventsSql(question: Question, read: EventRead): string {
  const { groups = [] } = read;
  const condition = both(question.everyEvent, read.condition);
  const asksUser =
    read.withUser === true ||
    condition.usesUser ||
    asksPersons(groups) ||
    groups.includes(byPerson);
  const columns = [
    ...['occur_time', 'event_id'],
    ...Object.entries({ ...read.columns, ...propertyColumns(question, groups) }).map(
      ([name, sql]) => `${sql} AS ${name}`,
    ),
    ...(asksUser
      ? [`${userKeySql(question, question.spec.includeCookieless)} AS user_key`, 'cookieless']
      : []),
  ];
  const listed = [listedKeysSql(question) ?? []].flat();
  const events = `SELECT ${columns.join(', ')} FROM events ${asksUser ? personJoinSql(question.project) : ''}
    WHERE ${[...scopeConditions(question, read), condition.sql, ...listed].join(' AND ')}`;
  return withPersonGroups(question, groups, events);
}

/** Whether a group is one of persons: by a trait or a segment. */
export function asksPersons(groups: readonly string[]): boolean {
  return groups.some(isOfPersons);
}

function isOfPersons(property: string): boolean {
  return traitOf(property) !== undefined || segmentOf(property) !== undefined;
}

/** Whether all events of a person are in the same groups: by traits, segments, or the person. */
export function areOfPersons(groups: readonly string[]): boolean {
  return groups.length > 0 && groups.every((group) => group === byPerson || isOfPersons(group));
}

/** Whether a user's key suffices for these groups, or none. It does not tell cookieless visitors, in no segment. */
export function haveKeys({ spec }: Question, groups: readonly string[]): boolean {
  const asksCookieless = spec.includeCookieless && groups.some((group) => segmentOf(group));
  return (groups.length === 0 || areOfPersons(groups)) && !asksCookieless;
}

/** SELECT of `users`, a SELECT of user_key and more, with the columns of such groups. */
export function withKeyGroups(
  question: Question,
  groups: readonly string[],
  users: string,
): string {
  const own = Object.entries(propertyColumns(question, groups)).map(
    ([name, sql]) => `, ${sql} AS ${name}`,
  );
  const rows = `SELECT *, false AS cookieless${own.join('')} FROM (${users})`;
  return withPersonGroups(question, groups, rows);
}

/** SQL over columns of `events` for each group that is none of persons, by the name of its column. */
export function propertyColumns(
  question: Question,
  groups: readonly string[],
): Record<string, string> {
  const columns = groups.flatMap((property, index) =>
    isOfPersons(property) ? [] : [[groupColumn(index), groupSql(question, property)]],
  );
  return Object.fromEntries(columns);
}

/** In the form of property-text.ts. */
function groupSql({ bindings, typesOf }: Question, property: string): string {
  if (property === byPerson) return personGroupSql;
  return propertyTextSql(property, bindings, typesOf(property));
}

/** The column of the breakdown with that place. */
export function groupColumn(index: number): string {
  return `group_${index}`;
}

/** Those of so many groups. */
export function groupColumns(count: number): string[] {
  return Array.from({ length: count }, (_, index) => groupColumn(index));
}

/** The kind of an event as a group. */
export const kindTextSql = "concat('=', kind)";

/** The profile that sent an event, before any merge: the users of all these profiles are looked up at once. */
export const senderColumns = { sender_key: 'profile_key', is_cookieless: 'cookieless' } as const;

/** A moment in milliseconds, as the type of occur_time. */
export function momentSql(ms: number, bindings: Bindings): string {
  return `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
}

/** The UTC day of a moment in milliseconds, as a Date; the first or last that a Date can be for moments beyond. */
export function daySql(ms: number, bindings: Bindings): string {
  const day = Math.min(Math.max(Math.floor(ms / dayMs), 0), lastDay);
  return `toDate(${bindings.bind('Int64', day)})`;
}

/** Project, range and as_of, over columns of `events`. */
function scopeConditions(question: Question, read: EventRead): string[] {
  const { project, bindings, asOfMs } = question;
  const { fromMs = question.fromMs, toMs = question.toMs, days } = read;
  if (days !== undefined) return [`project_id = ${project}`, `toDate(occur_time) IN ${days}`];
  question.notes.reads.push({ fromMs, toMs });
  const conditions = [`project_id = ${project}`, withinSql({ fromMs, toMs }, bindings)];
  if (asOfMs === undefined) return conditions;
  const order = read.receivedLater === true ? '>' : '<=';
  return [...conditions, `receive_time ${order} ${momentSql(asOfMs, bindings)}`];
}

/** Holds for the events of the ranges. One read of several costs less than one of each. */
export function withinRanges(ranges: readonly Range[], bindings: Bindings): EventCondition {
  const within = ranges.map((range) => `(${withinSql(range, bindings)})`);
  return eventsWhere(`(${within.join(' OR ')})`);
}

/** Holds for the events before a moment in milliseconds. */
export function occurredBefore(ms: number, bindings: Bindings): EventCondition {
  return eventsWhere(`(occur_time < ${momentSql(ms, bindings)})`);
}

/**
 * The order of `events` begins with the project and the UTC day, and the engine does not conclude from a range of time
 * which days these are: without the hint it looks through all other days of a large part.
 */
function withinSql({ fromMs, toMs }: Range, bindings: Bindings): string {
  const [from, to] = [momentSql(fromMs, bindings), momentSql(toMs, bindings)];
  const [first, last] = [daySql(fromMs, bindings), daySql(toMs - 1, bindings)];
  return `occur_time >= ${from} AND occur_time < ${to}
    AND indexHint(toDate(occur_time) >= ${first} AND toDate(occur_time) <= ${last})`;
}

/** Adds the columns of the groups that are of persons to rows with user_key and cookieless. */
export function withPersonGroups(
  { project, bindings, memberSql }: Question,
  groups: readonly string[],
  rows: string,
): string {
  return groups.reduce((sql, property, index) => {
    const column = groupColumn(index);
    const segment = segmentOf(property);
    if (segment !== undefined) {
      return `SELECT *, if(${memberSql(segment)}, '=in', '=not in') AS ${column} FROM (${sql})`;
    }
    const trait = traitOf(property);
    if (trait === undefined) return sql;
    return `SELECT * FROM (${sql}) AS known_${index} LEFT ANY JOIN (
      SELECT profile_key AS user_key, ${traitTextSql(trait, bindings)} AS ${column} ${livingProfilesSql(project)} AND ${column} != ''
    ) AS trait_${index} USING (user_key)`;
  }, rows);
}

/** The bucket of all events where there is only one. */
export const oneBucketSql = 'toInt64(0)';

/** SQL for the start of the bucket of a moment, in milliseconds; of an event's unless given. */
export function bucketSql(
  { bindings }: Question,
  buckets: readonly number[],
  momentMs = 'toUnixTimestamp64Milli(occur_time)',
): string {
  if (buckets.length === 1) return oneBucketSql;
  return `roundDown(${momentMs}, ${bindings.bind('Array(Int64)', buckets.map(BigInt))})`;
}

/**
 * Orders events by time, then by event id as a number, which ClickHouse's order of UUIDs is not. One number, because
 * aggregates compare tuples ten times as slowly.
 */
export const eventOrderSql =
  'bitOr(bitShiftLeft(toUInt256(toUnixTimestamp64Milli(occur_time)), 128), toUInt256(toUInt128(event_id)))';
