import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { WatchRowSchema, WatchStage } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { LiveRows } from './live-rows.ts';

const startMs = Date.UTC(2026, 10, 28);

const row = (eventId: string, stage: WatchStage, ms: number) =>
  create(WatchRowSchema, { stage, event: { eventId }, time: timestampFromMs(startMs + ms) });

it('does not say of an event that it arrives while all are counted', () => {
  const rows = new LiveRows();
  rows.take([
    row('unheard', WatchStage.ARRIVING, 0),
    row('stored', WatchStage.ARRIVING, 0),
    row('stored', WatchStage.STORED, 900),
    row('just now', WatchStage.ARRIVING, 9_000),
  ]);
  expect(rows.giveUp(startMs + 9_999)).toBe(false);
  expect(rows.giveUp(startMs + 10_000)).toBe(true);
  const stages = () => rows.newestFirst().map(({ key, stage }) => [key, stage]);
  expect(stages()).toEqual([
    ['just now', 'arriving'],
    ['stored', 'stored'],
    ['unheard', 'unknown'],
  ]);
  rows.take([row('unheard', WatchStage.DUPLICATE, 20_000)]);
  expect(stages()[2]).toEqual(['unheard', 'duplicate']);
});
