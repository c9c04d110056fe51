// Which annotations strangers see on a shared dashboard.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { AnnotationSchema } from '../../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import { RenderResponseSchema } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { sharedAnnotations } from './shared-tiles.ts';

const at = (day: number): ReturnType<typeof timestampFromMs> =>
  timestampFromMs(Date.UTC(2026, 10, day));
const board = (bucketLabels: string[]) =>
  create(RenderResponseSchema, {
    time: { range: { from: at(2), to: at(4) } },
    results: [{ outcome: { case: 'insight', value: { bucketLabels } } }],
  });
const annotations = [1, 2, 3, 4].map((day) =>
  create(AnnotationSchema, { id: `${day}`, time: at(day), text: `day ${day}` }),
);

it('are those of the range, the newest first, with their texts alone', () => {
  expect(sharedAnnotations(board(['2026-11-02T00:00:00Z']), annotations)).toEqual([
    { time: at(3), text: 'day 3' },
    { time: at(2), text: 'day 2' },
  ]);
});

it('are none where no tile is a chart of time', () => {
  expect(sharedAnnotations(board([]), annotations)).toEqual([]);
});
