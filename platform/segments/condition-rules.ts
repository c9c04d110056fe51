// The rules of a segment's condition: how large it may be, and what each of its tests may say. Who meets it is query's.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { PropertyFilter } from '../../proto/gen/common/v1/filter_pb.js';
import { LogicalOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import type {
  Behaviour,
  Condition,
  FirstSeen,
  ProfileTest,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { checkEventKinds } from '../filters/event-kinds.ts';
import { checkFilterCount, checkFilters, looksForPart } from '../filters/filter-bounds.ts';
import { checkPropertyName, propertyKey } from '../filters/filter-rules.ts';
import { valueTest } from '../filters/value-test.ts';
import { invalidArgument } from '../http/answers/invalid-argument.ts';
import { maxQuestionMs, minQuestionMs } from '../limits.ts';

const maxGroups = 10;
/** Of all groups together: each is a read of its own. */
const maxTests = 20;
const maxFilters = 10;
/** Ten years, with their leap days. */
const maxDays = 3_660;
const maxTimes = 1_000_000;
const maxListed = 400;

interface Named<T> {
  test: T;
  path: string;
}

/** Throws invalid_argument that names a field below `path` and its rule. */
export function checkCondition({ groups, operator }: Condition, path: string): void {
  between(groups.length, 1, maxGroups, `${path}.groups`, 'entries');
  checkOperator(operator, `${path}.operator`);
  const tests = groups.flatMap((group, place): Named<ProfileTest>[] => {
    const inGroup = `${path}.groups[${place}]`;
    checkOperator(group.operator, `${inGroup}.operator`);
    if (group.tests.length === 0) throw invalidArgument(`${inGroup}.tests`, 'must not be empty');
    return group.tests.map((test, index) => ({ test, path: `${inGroup}.tests[${index}]` }));
  });
  if (tests.length > maxTests) {
    throw invalidArgument(path, `takes at most ${maxTests} tests together`);
  }
  checkFilterBounds(tests, path);
  for (const { test, path: place } of tests) checkTest(test, place);
}

function checkOperator(operator: LogicalOperator, path: string): void {
  if (operator in LogicalOperator) return;
  throw invalidArgument(path, `${Number(operator)} is not an operator`);
}

function checkTest({ test }: ProfileTest, path: string): void {
  switch (test.case) {
    case 'trait':
      checkTrait(test.value, `${path}.trait`);
      break;
    case 'firstSeen':
      checkFirstSeen(test.value, `${path}.firstSeen`);
      break;
    case 'did':
      checkBehaviour(test.value, `${path}.did`);
      break;
    case 'listed':
      checkListed(test.value.profileIds, `${path}.listed.profileIds`);
      break;
    case undefined:
      throw invalidArgument(path, 'must have a trait, firstSeen, did or listed');
    default:
      test satisfies never;
  }
}

function checkTrait(filter: PropertyFilter, path: string): void {
  const { UNSPECIFIED, PROFILE } = PropertySource;
  if (filter.source !== UNSPECIFIED && filter.source !== PROFILE) {
    throw invalidArgument(`${path}.source`, 'must be PROFILE, or none');
  }
  checkPropertyName(filter, path);
  valueTest(filter, path);
}

function checkFirstSeen({ when }: FirstSeen, path: string): void {
  switch (when.case) {
    case 'before':
    case 'since':
      checkMoment(when.value, `${path}.${when.case}`);
      break;
    case 'lastDays':
      between(when.value, 1, maxDays, `${path}.lastDays`);
      break;
    case undefined:
      throw invalidArgument(path, 'must have before, since or lastDays');
    default:
      when satisfies never;
  }
}

function checkMoment({ seconds, nanos }: Timestamp, path: string): void {
  const ms = Number(seconds) * 1_000;
  if (ms >= minQuestionMs && ms <= maxQuestionMs && nanos >= 0 && nanos < 1e9) return;
  throw invalidArgument(path, 'must lie between 1970 and 2200');
}

function checkBehaviour({ event, times, lastDays }: Behaviour, path: string): void {
  switch (times.case) {
    case 'atLeast':
      between(times.value, 1, maxTimes, `${path}.atLeast`);
      break;
    case 'atMost':
      between(times.value, 0, maxTimes, `${path}.atMost`);
      break;
    case undefined:
      throw invalidArgument(path, 'must have atLeast or atMost');
    default:
      times satisfies never;
  }
  between(lastDays, 0, maxDays, `${path}.lastDays`);
  if (event === undefined) return;
  checkEventKinds(event, `${path}.event`);
  for (const [index, filter] of event.filters.entries()) {
    const place = `${path}.event.filters[${index}]`;
    if (filter.source === PropertySource.PROFILE) checkPropertyName(filter, place);
    else propertyKey(filter, place);
    valueTest(filter, place);
  }
}

function checkListed(profileIds: readonly string[], path: string): void {
  between(profileIds.length, 1, maxListed, path, 'ids');
  const odd = profileIds.findIndex((id) => !/^[0-9a-f]{32}$/.test(id));
  if (odd >= 0) throw invalidArgument(`${path}[${odd}]`, 'must be 32 lower-case hex digits');
}

/** Before any filter is read, as those of a question. */
function checkFilterBounds(tests: readonly Named<ProfileTest>[], path: string): void {
  const events = tests.flatMap(({ test: { test }, path: place }) =>
    test.case === 'did' ? [{ event: test.value.event, path: `${place}.did.event` }] : [],
  );
  for (const { event, path: place } of events) {
    if ((event?.filters.length ?? 0) <= maxFilters) continue;
    throw invalidArgument(`${place}.filters`, `takes at most ${maxFilters}`);
  }
  const filters = [
    ...tests.flatMap(({ test: { test }, path: place }) =>
      test.case === 'trait' ? [{ filter: test.value, path: `${place}.trait` }] : [],
    ),
    ...events.flatMap(({ event, path: place }) =>
      (event?.filters ?? []).map((filter, index) => ({
        filter,
        path: `${place}.filters[${index}]`,
      })),
    ),
  ];
  checkFilterCount(filters.length, path);
  const kinds = events.flatMap(({ event }) => [event?.kind ?? '', ...(event?.kinds ?? [])]);
  checkFilters(filters, path, kinds, isSearch);
}

/** A path into a trait has the engine parse the trait's JSON. */
function isSearch({ operator, property }: PropertyFilter): boolean {
  return looksForPart(operator) || property.includes('.');
}

function between(value: number, least: number, most: number, path: string, of = ''): void {
  if (value >= least && value <= most) return;
  throw invalidArgument(path, `must be ${least} to ${most}${of === '' ? '' : ` ${of}`}`);
}
