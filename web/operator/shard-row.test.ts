import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { ShardSchema } from '../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { shardRow } from './shard-row.ts';

it('tells a queue that is empty from one that could not be read', () => {
  const events = { messages: 0n, bytes: 0n, maxBytes: 1024n, lagMs: 0n };
  const readable = shardRow(create(ShardSchema, { events, profiles: { messages: 2n } }));
  expect(readable).toEqual({
    ...{ waiting: '0', size: '0 B of 1.0 KiB', oldest: '0 s', identityCalls: '2' },
  });
  expect(shardRow(create(ShardSchema))).toEqual({
    ...{ waiting: '–', size: '–', oldest: '–', identityCalls: '–' },
  });
});
