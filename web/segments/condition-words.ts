// A segment's condition in words, and what it lacks before it can be counted or saved.

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { plural } from '../../platform/words/figures.ts';
import {
  type EventFilter,
  LogicalOperator,
  type PropertyFilter,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import type {
  Behaviour,
  Condition,
  ConditionGroup,
  FirstSeen,
  ProfileTest,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import {
  fromPropertyFilter,
  inWords,
  isComplete,
  type Condition as PropertyCondition,
} from '../filter/condition.ts';
import { wallMs, zoneFormat } from '../time/zone.ts';
import { type Match, matchOf } from './groups.ts';

/** A trait without the prefix that marks it among properties of events. */
export function traitCondition(filter: PropertyFilter): PropertyCondition {
  return fromPropertyFilter({ ...filter, source: PropertySource.UNSPECIFIED });
}

const words: Record<Match, string> = {
  all: ' and ',
  any: ' or ',
  none: ' or ',
  'not all': ' and ',
};

/** "did purchase at least 2 times in the last 30 days and plan is pro". Days are those of the zone. */
export function conditionText({ groups, operator }: Condition, zone: string): string {
  const texts = groups.map((group) => {
    const text = groupText(group, zone);
    const isWhole = groups.length === 1 || group.tests.length === 1 || group.negated;
    return isWhole ? text : `(${text})`;
  });
  return texts.join(operator === LogicalOperator.OR ? ' or ' : ' and ');
}

function groupText(group: ConditionGroup, zone: string): string {
  const texts = group.tests.map((test) => testText(test, zone));
  const joined = texts.join(words[matchOf(group)]);
  return group.negated ? `not (${joined})` : joined;
}

function testText({ test, negated }: ProfileTest, zone: string): string {
  const text = plainText(test, zone);
  return negated ? `not (${text})` : text;
}

function plainText(test: ProfileTest['test'], zone: string): string {
  switch (test.case) {
    case 'trait':
      return inWords(traitCondition(test.value));
    case 'firstSeen':
      return `first seen ${whenText(test.value, zone)}`;
    case 'did':
      return behaviourText(test.value);
    case 'listed':
      return `one of ${plural(test.value.profileIds.length, 'listed user')}`;
    default:
      return '';
  }
}

function whenText({ when }: FirstSeen, zone: string): string {
  switch (when.case) {
    case 'before':
      return `before ${dayName(timestampMs(when.value), zone)}`;
    case 'since':
      return `on ${dayName(timestampMs(when.value), zone)} or later`;
    case 'lastDays':
      return `in ${daysText(when.value)}`;
    default:
      return '';
  }
}

/** "3 Nov 2026". */
function dayName(ms: number, zone: string): string {
  const parts = { day: 'numeric', month: 'short', year: 'numeric' } as const;
  return zoneFormat('UTC', parts).format(wallMs(ms, zone));
}

function behaviourText({ event, times, lastDays }: Behaviour): string {
  const what = eventText(event);
  const when = lastDays === 0 ? '' : ` in ${daysText(lastDays)}`;
  if (times.case === 'atMost' && times.value === 0) return `never did ${what}${when}`;
  const count = times.value ?? 0;
  const bound = times.case === 'atMost' ? 'at most' : 'at least';
  return `did ${what} ${bound} ${count === 1 ? 'once' : plural(count, 'time')}${when}`;
}

function eventText(event: EventFilter | undefined): string {
  const { kind = '', kinds = [], filters = [] } = event ?? {};
  const name = kinds.length > 0 ? kinds.join(' or ') : kind || 'anything';
  const conditions = filters.map((filter) => inWords(fromPropertyFilter(filter))).join(', ');
  return conditions === '' ? name : `${name} (${conditions})`;
}

function daysText(days: number): string {
  return days === 1 ? 'the last day' : `the last ${plural(days, 'day')}`;
}

/** What is still to be chosen; undefined where nothing is. */
export function missingIn({ groups }: Condition): string | undefined {
  if (groups.some(({ tests }) => tests.length === 0)) return 'Add a condition.';
  const gaps = groups.flatMap(({ tests }) => tests.map(missingInTest));
  return gaps.find((gap) => gap !== undefined);
}

function missingInTest({ test }: ProfileTest): string | undefined {
  switch (test.case) {
    case 'trait':
      return isComplete(traitCondition(test.value))
        ? undefined
        : 'Choose the trait and what it is compared with.';
    case 'firstSeen':
      return isGiven(test.value) ? undefined : 'Say when they were first seen.';
    case 'did': {
      const { times, lastDays, event } = test.value;
      if (event?.kinds.includes('')) return 'Choose the other event.';
      if (times.case === 'atLeast' && times.value < 1) return 'Say how often.';
      return lastDays < 0 ? 'Say in how many days.' : undefined;
    }
    default:
      return undefined;
  }
}

function isGiven({ when }: FirstSeen): boolean {
  if (when.case === 'lastDays') return when.value > 0;
  return when.case !== undefined && timestampMs(when.value) !== 0;
}
