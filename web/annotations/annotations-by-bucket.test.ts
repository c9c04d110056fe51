import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { AnnotationSchema } from '../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import { annotationsByBucket } from './annotations-by-bucket.ts';

const labels = [
  '2026-11-01T00:00:00-07:00',
  '2026-11-02T00:00:00-08:00',
  '2026-11-03T00:00:00-08:00',
];
const at = (text: string) =>
  create(AnnotationSchema, { time: timestampFromDate(new Date(text)), text });

it('puts annotations into the buckets that hold their moments, the oldest first', () => {
  // The newest first, as the service lists them.
  const listed = [
    at('2026-11-04T08:00:00Z'),
    at('2026-11-04T07:59:59Z'),
    at('2026-11-02T09:00:00Z'),
    at('2026-11-02T08:00:00Z'),
    at('2026-11-01T07:00:00Z'),
    at('2026-11-01T06:59:59Z'),
  ];
  const found = [...annotationsByBucket(labels, listed)].map(([bucket, notes]) => [
    bucket,
    notes.map(({ text }) => text),
  ]);
  expect(found).toEqual([
    [0, ['2026-11-01T07:00:00Z']],
    [1, ['2026-11-02T08:00:00Z', '2026-11-02T09:00:00Z']],
    [2, ['2026-11-04T07:59:59Z']],
  ]);
});

it('finds none without buckets, and those of its own moment in one alone', () => {
  expect(annotationsByBucket([], [at('2026-11-02T09:00:00Z')]).size).toBe(0);
  const alone = annotationsByBucket(labels.slice(0, 1), [at('2026-11-01T07:00:00Z')]);
  expect([...alone.keys()]).toEqual([0]);
});
