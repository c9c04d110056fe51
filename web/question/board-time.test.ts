import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import {
  TimeRangePreset as Preset,
  RenderedTimeSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { boardTime, timeKey } from './board-time.ts';

const day = 86_400_000;

function key(fromDay: number, toDay: number, granularity: Granularity, timezone: string): string {
  const range = { from: timestampFromMs(fromDay * day), to: timestampFromMs(toDay * day) };
  return timeKey(create(RenderedTimeSchema, { range, granularity, timezone }));
}

it('tells apart times that end at the same moment', () => {
  const keys = [
    key(0, 30, Granularity.DAY, 'UTC'),
    key(23, 30, Granularity.DAY, 'UTC'),
    key(23, 30, Granularity.HOUR, 'UTC'),
    key(23, 30, Granularity.HOUR, 'Europe/London'),
  ];
  expect(new Set(keys).size).toBe(4);
  expect(key(0, 30, Granularity.DAY, 'UTC')).toBe(keys[0]);
});

it('asks for the last month as such, so that the month before is what it is compared with', () => {
  const range = { from: new Date(0), to: new Date(31 * day), name: 'Last month' };
  const { range: asked } = boardTime(new URLSearchParams('range=lastmonth'), range);
  expect(asked).toEqual({ case: 'preset', value: Preset.LAST_MONTH });
});
