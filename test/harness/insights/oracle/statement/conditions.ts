// When an event matches: its kind, filters and filter groups, and the segments of its person.

import type { EventFilter } from '../../questions/event-filter.ts';
import type { Question } from '../../questions/question.ts';
import { all, condition, meetsScope, place } from './filters.ts';
import { text } from './literals.ts';
import { isInSegment } from './segments.ts';

/** The number that SUM, AVG, MIN and MAX read, as a double; NULL for anything else. */
export function numberOf(property: string): string {
  const key = text(property);
  return `coalesce(CAST(ints[${key}] AS DOUBLE), doubles[${key}])`;
}

/** The text by which a breakdown groups; NULL where it is lacking. */
export function breakdownText(question: Question, property: string): string {
  const segment = question.splitBy?.find(({ id }) => property === `segment.${id}`);
  if (segment !== undefined)
    return `CASE WHEN ${isInSegment(question, segment)} THEN 'in' ELSE 'not in' END`;
  return property.startsWith('profile.')
    ? place(property.slice('profile.'.length), true).text
    : place(property, false).text;
}

/** The event meets the filter groups, and its person is in the segments, and in none that are excluded. */
export function meetsGroups(question: Question): string {
  const { filterGroups = [], filterGroupsOperator, segments = [] } = question;
  const { notInSegments = [] } = question;
  const groups = filterGroups.map(({ filters, operator }) => all(filters.map(condition), operator));
  const members = segments.map((segment) => isInSegment(question, segment));
  const others = notInSegments.map((segment) => `NOT ${isInSegment(question, segment)}`);
  return all([all(groups, filterGroupsOperator), ...members, ...others]);
}

/** The event matches: its kind, its own filters, the filter groups and the segments. */
export function matches(question: Question, event: EventFilter | undefined): string {
  return all([meetsScope(event), meetsGroups(question)]);
}
