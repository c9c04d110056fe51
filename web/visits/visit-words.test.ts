// How a visit is told.

import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { VisitSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { sourceOf } from './visit-words.ts';

it.each([
  ['www.google.com', 'organic search', 'Google, organic search'],
  ['blog.example', 'referral', 'blog.example, referral'],
  ['', 'direct', 'Direct / none'],
  ['', 'email', 'Email'],
  ['', '', ''],
])('of %j by %j reads as %j', (referrerDomain, channel, words) => {
  expect(sourceOf(create(VisitSchema, { referrerDomain, channel }))).toBe(words);
});
