import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { WatchTotalsSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { minuteOf } from './minute.ts';

const totals = [
  create(WatchTotalsSchema, { arriving: 2n, refused: 1n, dead: 1n, lost: 7n }),
  create(WatchTotalsSchema, { arriving: 5n, refused: 3n, sampledOut: 4n, lost: 1n }),
];

it('adds up the last minute, and tells the last second', () => {
  const minute = minuteOf(totals, true);
  expect(minute?.arriving.slice(-3)).toEqual([0, 2, 5]);
  expect(minute).toMatchObject({ refused: 4, dead: 1, notShown: 5 });
  expect(minute?.arriving.length).toBe(60);
});

it('has no figures while the stream is away', () => {
  expect(minuteOf(totals, false)).toBeUndefined();
});
