import { create } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { WatchTotalsSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { lagOf } from './lag.ts';

const behind = (ms: number) => create(WatchTotalsSchema, { lag: durationFromMs(ms) });

it('says that all is counted only where the service knows it', () => {
  expect(lagOf(undefined, true)).toEqual({ state: 'live', text: 'Live' });
  expect(lagOf(create(WatchTotalsSchema), true)).toEqual({ state: 'live', text: 'Live' });
  expect(lagOf(behind(0), true)).toEqual({ state: 'live', text: 'Up to date' });
});

it('says how far the service is behind, and that nobody knows it while the stream is away', () => {
  expect(lagOf(behind(250), true)).toEqual({ state: 'live', text: '250 ms behind' });
  expect(lagOf(behind(10_001), true).state).toBe('behind');
  expect(lagOf(behind(0), false)).toEqual({ state: 'away', text: 'Not live' });
});
