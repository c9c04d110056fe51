// Segments over HTTP on a real broker: what is stored, and which rule refuses what. query/ tests who is in a segment.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import type {
  ConditionSchema,
  ProfileTestSchema,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { maxSegmentBytes, maxSegments } from './segment-rpc.ts';

const broker = useBroker();
const changeLimits = { perCustomer: 10_000, perOrganization: 10_000 };
let nowMs = Date.UTC(2026, 6, 1);
let accounts: AccountsProcess;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let projectId: string;
let segments: Clients['segments'];

beforeAll(async () => {
  const clock = { nowMs: () => nowMs };
  accounts = await startAccounts({ brokerUrl: broker.url, clock, control: { changeLimits } });
  owner = await newCustomer(accounts);
});
afterAll(() => accounts.close());

/** A new project for each test. */
beforeEach(async () => {
  const { orgId } = owner;
  const { project } = await accounts.as(bearer(owner)).projects.create({ orgId, displayName: 'P' });
  projectId = project?.id ?? '';
  segments = accounts.as(bearer(owner, projectId)).segments;
});

type Condition = MessageInitShape<typeof ConditionSchema>;
type Test = NonNullable<MessageInitShape<typeof ProfileTestSchema>['test']>;

const did = (value: object): Test => ({ case: 'did', value });
const trait = (value: object): Test => ({ case: 'trait', value });
const of = (...tests: Test[]): Condition => ({
  groups: [{ tests: tests.map((test) => ({ test })) }],
});
const bought = did({
  event: { kind: 'buy', filters: [{ property: 'plan', operator: FilterOperator.IS_SET }] },
  times: { case: 'atLeast', value: 2 },
  lastDays: 30,
});
const isPro = trait({ property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' });

it('are stored, listed as they were made, changed, found for questions and deleted', async () => {
  const condition = of(bought, isPro);
  const { segment } = await segments.create({ displayName: ' Buyers ', condition });
  const id = segment?.id ?? '';
  expect(segment).toMatchObject({ displayName: 'Buyers', condition: { groups: [{}] } });
  await segments.create({ displayName: 'Pro', condition: of(isPro) });
  const names = async () => (await segments.list({})).segments.map((one) => one.displayName);
  expect(await names()).toEqual(['Buyers', 'Pro']);
  expect(await accounts.control.findSegment(projectId, id)).toEqual(segment);
  nowMs += 60_000;
  const renamed = await segments.update({ id, displayName: 'Customers' });
  expect(renamed.segment).toMatchObject({
    displayName: 'Customers',
    condition: segment?.condition,
  });
  expect(renamed.segment?.updateTime).not.toEqual(segment?.updateTime);
  const changed = await segments.update({ id, condition: of(isPro) });
  expect(changed.segment?.condition?.groups[0]?.tests).toHaveLength(1);
  expect((await segments.get({ id })).segment).toEqual(changed.segment);
  expect(await accounts.control.findSegment(projectId, id)).toEqual(changed.segment);
  await segments.delete({ id });
  const notFound = { code: Code.NotFound, rawMessage: 'there is no such segment' };
  await expect(segments.get({ id })).rejects.toMatchObject(notFound);
  await expect(segments.update({ id, displayName: 'x' })).rejects.toMatchObject(notFound);
  await expect(segments.delete({ id })).rejects.toMatchObject(notFound);
  expect(await accounts.control.findSegment(projectId, id)).toBeUndefined();
  expect(await names()).toEqual(['Pro']);
});

const atLeast = (value: number) => ({ times: { case: 'atLeast', value } });
const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
/** JSON and binary requests can hold it. */
const noOperator: number = 7;
const test = 'condition.groups[0].tests[0]';
const hex = 'a'.repeat(32);

it.each<[string, Condition | undefined, string]>([
  ['no condition', undefined, 'condition: is required'],
  ['no group', {}, 'condition.groups: must be 1 to 10 entries'],
  ['eleven groups', { groups: many(11, {}) }, 'condition.groups: must be 1 to 10 entries'],
  ['no test', { groups: [{}] }, 'condition.groups[0].tests: must not be empty'],
  ['a test of nothing', { groups: [{ tests: [{}] }] }, `${test}: must have a trait, firstSeen, di`],
  ['21 tests', of(...many(21, isPro)), 'condition: takes at most 20 tests together'],
  [
    'another operator',
    { ...of(isPro), operator: noOperator },
    'condition.operator: 7 is not an operator',
  ],
  ['no times', of(did({})), `${test}.did: must have atLeast or atMost`],
  ['at least none', of(did(atLeast(0))), `${test}.did.atLeast: must be 1 to 1000000`],
  [
    'at most fewer than none',
    of(did({ times: { case: 'atMost', value: -1 } })),
    `${test}.did.atMost: must be 0 to 1000000`,
  ],
  ['days', of(did({ ...atLeast(1), lastDays: 3_661 })), `${test}.did.lastDays: must be 0 to 3660`],
  [
    'two members for kinds',
    of(did({ ...atLeast(1), event: { kind: 'a', kinds: ['b'] } })),
    `${test}.did.event.kinds: must be empty where kind is set`,
  ],
  [
    'eleven filters',
    of(did({ ...atLeast(1), event: { filters: many(11, { property: 'a', operator: 5 }) } })),
    `${test}.did.event.filters: takes at most 10`,
  ],
  [
    'a filter without its value',
    of(did({ ...atLeast(1), event: { filters: [{ property: 'a', operator: 9 }] } })),
    `${test}.did.event.filters[0].value: LT takes a number`,
  ],
  [
    'a trait without an operator',
    of(trait({ property: 'plan' })),
    `${test}.trait.operator: is req`,
  ],
  [
    'a property of events as a trait',
    of(trait({ property: '$os', operator: 5, source: PropertySource.AUTO })),
    `${test}.trait.source: must be PROFILE, or none`,
  ],
  [
    'searches',
    of(...many(11, trait({ property: 'plan', operator: 3, value: 'x' }))),
    'condition: take at most 10 searches',
  ],
  ['no moment', of({ case: 'firstSeen', value: {} }), `${test}.firstSeen: must have before, since`],
  [
    'a moment of another age',
    of({ case: 'firstSeen', value: { when: { case: 'since', value: { seconds: -1n } } } }),
    `${test}.firstSeen.since: must lie between 1970 and 2200`,
  ],
  [
    'an id',
    of({ case: 'listed', value: { profileIds: [hex, 'u1'] } }),
    `${test}.listed.profileIds[1]: must be 32 lower-case hex digits`,
  ],
  ['no id', of({ case: 'listed', value: {} }), `${test}.listed.profileIds: must be 1 to 400 ids`],
  [
    'more bytes than it may take',
    of(
      ...many(20, isPro).map((one, n) =>
        n > 18
          ? { case: 'listed' as const, value: { profileIds: many(400, hex) } }
          : n > 10
            ? one
            : trait({ property: 'plan', operator: 1, value: 'x'.repeat(1_000) }),
      ),
    ),
    `condition: a segment takes at most ${maxSegmentBytes} bytes`,
  ],
])('are refused with field and rule: %s', async (_, condition, rule) => {
  const request = { displayName: 'S', ...(condition && { condition }) };
  await expect(segments.create(request)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(rule),
  });
});

it('are at most a hundred in a project', async () => {
  for (let n = 0; n < maxSegments; n++) {
    await segments.create({ displayName: `S${n}`, condition: of(isPro) });
  }
  const more = segments.create({ displayName: 'one more', condition: of(isPro) });
  await expect(more).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'a project has at most 100 segments: delete some',
  });
});
