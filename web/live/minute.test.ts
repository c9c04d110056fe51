import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import {
  type WatchTotals,
  WatchTotalsSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { withTotals } from '../feed/last-minute.ts';
import { beginMs, minuteOf } from './minute.ts';

const startMs = Date.UTC(2026, 10, 28);

/** So many seconds after the stream began. */
const at = (
  second: number,
  counts: { arriving?: bigint; refused?: bigint; dead?: bigint; lost?: bigint } = {},
) => create(WatchTotalsSchema, { time: timestampFromMs(startMs + second * 1_000), ...counts });

const kept = (totals: readonly WatchTotals[]) =>
  totals.reduce<readonly WatchTotals[]>(withTotals, []);

it('counts the last minute, not the last second', () => {
  const totals = kept([
    at(0, { arriving: 9n }),
    at(1, { arriving: 2n, refused: 1n }),
    at(2, { arriving: 5n, dead: 1n, lost: 7n }),
    at(3),
  ]);
  const minute = minuteOf(totals, true, undefined);
  expect(minute?.arriving.slice(-4)).toEqual([0, 2, 5, 0]);
  expect(minute).toMatchObject({ events: 7, seconds: 3, refused: 1, dead: 1, heardSeconds: 3 });
  expect(minute).toMatchObject({ notShown: 0 });
  expect(minute?.arriving.length).toBe(60);
});

it('knows from the service what came before the stream', () => {
  const before = { untilMs: startMs, events: Array.from({ length: 60 }, (_, n) => n + 1) };
  const minute = minuteOf(kept([at(0), at(1, { arriving: 100n }), at(2)]), true, before);
  expect(minute?.arriving.slice(-4)).toEqual([59, 60, 100, 0]);
  // The two earliest seconds are more than a minute ago.
  expect(minute).toMatchObject({
    events: (60 * 61) / 2 - 1 - 2 + 100,
    seconds: 60,
    heardSeconds: 2,
  });
  const ofAnother = { ...before, untilMs: startMs - 1 };
  expect(minuteOf(kept([at(0), at(1)]), true, ofAnother)).toMatchObject({ events: 0, seconds: 1 });
});

it('forgets what is older, however many totals come late', () => {
  const totals = kept(Array.from({ length: 90 }, (_, n) => at(n * 1.5, { arriving: 1n })));
  expect(minuteOf(totals, true, undefined)).toMatchObject({ events: 40, seconds: 60 });
  expect(beginMs(totals)).toBeUndefined();
  expect(beginMs(totals.slice(0, 10))).toBe(startMs + 49 * 1_500);
  expect(kept(Array.from({ length: 90 }, () => create(WatchTotalsSchema))).length).toBe(62);
});

it('has no figures while the stream is away', () => {
  expect(minuteOf([at(0), at(1)], false, undefined)).toBeUndefined();
  expect(minuteOf([], true, undefined)).toBeUndefined();
});
