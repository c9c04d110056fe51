import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { StreamSchema } from '../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { streamRows } from './stream-row.ts';

const beta = { name: 'beta', offline: false, behind: 0n };
const gamma = { ...beta, name: 'gamma' };
const led = (name: string, ...followers: (typeof beta)[]) =>
  create(StreamSchema, { name, leader: 'alpha', followers });

it('tells which follower is current, how far one is behind, and which is offline', () => {
  const { rows } = streamRows([
    led('EVENTS_0', beta, { ...gamma, behind: 1_234n }),
    led('EVENTS_1', { ...beta, offline: true, behind: 7n }, gamma),
  ]);
  expect(rows.find(({ name }) => name === 'EVENTS_0')).toEqual({
    name: 'EVENTS_0',
    leader: 'alpha',
    followers: [
      { name: 'beta', text: 'current', tone: 'good' },
      { name: 'gamma', text: '1,234 behind', tone: 'warn' },
    ],
  });
  expect(rows.find(({ name }) => name === 'EVENTS_1')?.followers).toEqual([
    { name: 'beta', text: 'offline', tone: 'bad' },
    { name: 'gamma', text: 'current', tone: 'good' },
  ]);
});

it('has streams without a leader first, then those with a follower offline', () => {
  const { rows, faults } = streamRows([
    led('EVENTS_0', beta, { ...gamma, behind: 9n }),
    led('EVENTS_1', { ...beta, offline: true }, { ...gamma, offline: true }),
    create(StreamSchema, { name: 'KV_orgs' }),
  ]);
  expect(rows.map(({ name }) => name)).toEqual(['KV_orgs', 'EVENTS_1', 'EVENTS_0']);
  expect(rows[0]).toEqual({ name: 'KV_orgs', leader: undefined, followers: [] });
  expect(faults).toEqual(['1 without a leader', '1 with a follower offline']);
});

it('finds no fault where a follower is a little behind', () => {
  const { faults } = streamRows([led('EVENTS_0', beta, { ...gamma, behind: 9n })]);
  expect(faults).toEqual([]);
});
