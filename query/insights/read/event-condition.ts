// Turns the events that a question names, kind and filters, into a condition on rows of `events`. Filters on traits ask
// for the event's person, whose key is the column user_key (persons.ts).

import { checkGroups } from '../../../platform/filters/filter-bounds.ts';
import { checkPropertyName, heldByAbsence } from '../../../platform/filters/filter-rules.ts';
import { invalidArgument, notKnown } from '../../../platform/http/answers/invalid-argument.ts';
import {
  type EventFilter,
  LogicalOperator,
  type PropertyFilter,
  PropertySource,
} from '../../../proto/gen/common/v1/filter_pb.js';
import type { EventQuery, FilterGroup } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Bindings } from '../../filters/bindings.ts';
import { kindsOf, kindsSql } from '../../filters/event-kinds.ts';
import { comparison, filterCondition } from '../../filters/filter.ts';
import { traitComparisons } from '../../filters/profile-condition.ts';
import { livingProfilesSql } from '../../identity/identity-sql.ts';

/** A condition that is true or false for every event. */
export interface EventCondition {
  /** SQL; one term. */
  sql: string;
  /** It names user_key. */
  usesUser: boolean;
  /** Whether it looks at nothing but the kind: that is one of one kind, or of several. */
  kind: 'every' | 'one kind' | 'some kinds' | 'filtered';
}

interface Scope {
  project: string;
  bindings: Bindings;
}

/** The kind and filters of an event; undefined means every event. Throws invalid_argument below `path`. */
export function eventCondition(
  event: EventFilter | undefined,
  path: string,
  scope: Scope,
): EventCondition {
  if (event === undefined) return every;
  const ofKind = kindsSql(event, scope.bindings);
  const filters = event.filters.map((filter, index) =>
    filterSql(filter, `${path}.filters[${index}]`, scope),
  );
  return {
    sql: all([...(ofKind === undefined ? [] : [ofKind]), ...filters]),
    usesUser: event.filters.some(asksForTrait),
    kind: kindOf(event),
  };
}

/** Of a question that has one event. Throws invalid_argument for another number of events. */
export function onlyEvent(events: readonly EventQuery[], scope: Scope): EventCondition {
  const [first] = events;
  if (first === undefined || events.length > 1) {
    throw invalidArgument('spec.events', 'must have one entry');
  }
  return eventCondition(first.event, 'spec.events[0].event', scope);
}

/** Holds for every event. */
export const every: EventCondition = { sql: 'true', usesUser: false, kind: 'every' };

/** `sql` is one term that does not name user_key. */
export function eventsWhere(sql: string): EventCondition {
  return { sql, usesUser: false, kind: 'filtered' };
}

function kindOf(event: EventFilter): EventCondition['kind'] {
  if (event.filters.length > 0) return 'filtered';
  const [only, ...others] = kindsOf(event);
  if (only === undefined) return 'every';
  return others.length === 0 ? 'one kind' : 'some kinds';
}

/** Filter groups; `parent` is their place in the request. Throws invalid_argument. */
export function groupsCondition(
  groups: readonly FilterGroup[],
  operator: LogicalOperator,
  scope: Scope,
  parent = 'spec.',
): EventCondition {
  if (groups.length === 0) return every;
  checkGroups(groups, operator, `${parent}filterGroups`);
  const conditions = groups.map((group, place) => {
    const path = `${parent}filterGroups[${place}]`;
    const filters = group.filters.map((filter, index) =>
      filterSql(filter, `${path}.filters[${index}]`, scope),
    );
    return combine(filters, group.operator, `${path}.operator`);
  });
  return {
    sql: combine(conditions, operator, `${parent}filterGroupsOperator`),
    usesUser: groups.some(({ filters }) => filters.some(asksForTrait)),
    kind: 'filtered',
  };
}

/** Both conditions hold. */
export function both(one: EventCondition, other: EventCondition): EventCondition {
  if (one.kind === 'every') return other;
  if (other.kind === 'every') return one;
  return {
    sql: all([one.sql, other.sql]),
    usesUser: one.usesUser || other.usesUser,
    kind: 'filtered',
  };
}

/** At least one of the conditions holds; every event where there are none. */
export function anyOf(conditions: readonly EventCondition[]): EventCondition {
  const [only, ...others] = new Map(conditions.map((one) => [one.sql, one])).values();
  if (only === undefined) return every;
  const whole = conditions.find(({ kind }) => kind === 'every');
  if (whole !== undefined || others.length === 0) return whole ?? only;
  return {
    sql: `(${[only, ...others].map(({ sql }) => sql).join(' OR ')})`,
    usesUser: conditions.some(({ usesUser }) => usesUser),
    kind: conditions.some(({ kind }) => kind === 'filtered') ? 'filtered' : 'some kinds',
  };
}

function all(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : `(${conditions.join(' AND ')})`;
}

function combine(conditions: readonly string[], operator: LogicalOperator, path: string): string {
  switch (operator) {
    case LogicalOperator.UNSPECIFIED:
    case LogicalOperator.AND:
      return all(conditions);
    case LogicalOperator.OR:
      return `(${conditions.join(' OR ')})`;
    default:
      throw notKnown(path, operator, 'is not an operator');
  }
}

function asksForTrait({ source }: PropertyFilter): boolean {
  return source === PropertySource.PROFILE;
}

function filterSql(filter: PropertyFilter, path: string, scope: Scope): string {
  if (!asksForTrait(filter)) return filterCondition(filter, path, scope.bindings);
  const { set, isMetInside } = traitKeys(filter, path, scope);
  return `(user_key ${isMetInside ? 'IN' : 'NOT IN'} ${set})`;
}

/** A set of persons' keys; a condition is met by those who are in it, or by those who are not. */
export interface PersonKeys {
  set: string;
  isMetInside: boolean;
}

/** Of a filter on a trait. Throws invalid_argument below `path`. */
export function traitKeys(
  filter: PropertyFilter,
  path: string,
  { project, bindings }: Scope,
): PersonKeys {
  checkPropertyName(filter, path);
  const holds = comparison(filter, path, traitComparisons(filter.property, bindings));
  const keys = `SELECT profile_key ${livingProfilesSql(project)}`;
  // A person without traits is not in `profiles`: where the condition holds for them, the others are excluded.
  return heldByAbsence(filter.operator)
    ? { set: `(${keys} AND NOT (${holds}))`, isMetInside: false }
    : { set: `(${keys} AND (${holds}))`, isMetInside: true };
}
