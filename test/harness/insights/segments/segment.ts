// A segment in the JSON of SegmentsService, as far as the oracle reads it.

import {
  type EventFilter,
  eventFilterOf,
  type Filter,
  filterOf,
} from '../questions/event-filter.ts';

/** Enum values stand without the prefix of their enum, moments as milliseconds. */
export interface Segment {
  id: string;
  groups: TestGroup[];
  operator?: 'AND' | 'OR';
}

export interface TestGroup {
  tests: ProfileTest[];
  operator?: 'AND' | 'OR';
  negated?: boolean;
}

export interface ProfileTest {
  trait?: Filter;
  firstSeen?: { beforeMs: number } | { sinceMs: number } | { lastDays: number };
  did?: { event?: EventFilter; atLeast?: number; atMost?: number; lastDays?: number };
  /** Profile ids. */
  listed?: readonly string[];
  negated?: boolean;
}

/** As the service answers it. */
export function segmentJson({ id, groups, operator }: Segment): Record<string, unknown> {
  const condition = {
    operator: operator && `LOGICAL_OPERATOR_${operator}`,
    groups: groups.map((group) => ({
      ...{ negated: group.negated, tests: group.tests.map(testJson) },
      operator: group.operator && `LOGICAL_OPERATOR_${group.operator}`,
    })),
  };
  return { id, displayName: id, condition };
}

function testJson({ trait, firstSeen, did, listed, negated }: ProfileTest): unknown {
  return {
    negated,
    trait: trait && filterOf(trait),
    firstSeen: firstSeen && whenJson(firstSeen),
    did: did && { ...did, event: eventFilterOf(did.event) },
    listed: listed && { profileIds: listed },
  };
}

function whenJson(when: NonNullable<ProfileTest['firstSeen']>): unknown {
  if ('lastDays' in when) return when;
  if ('beforeMs' in when) return { before: new Date(when.beforeMs).toISOString() };
  return { since: new Date(when.sinceMs).toISOString() };
}
