// How a visit is told.

import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { VisitSchema } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { sourceOf } from './visit-words.ts';

it.each([
  ['www.google.com', '', 'organic search', 'Google, organic search'],
  ['www.google.com', 'ads', 'paid search', 'Google, paid search'],
  ['blog.example', '', 'referral', 'blog.example, referral'],
  ['', 'newsletter', 'email', 'newsletter, email'],
  ['', 'partner', 'direct', 'partner'],
  ['', '', 'direct', 'Direct / none'],
  ['', '', 'email', 'Email'],
  ['', '', '', ''],
])('of %j and %j by %j reads as %j', (referrerDomain, utmSource, channel, words) => {
  expect(sourceOf(create(VisitSchema, { referrerDomain, utmSource, channel }))).toBe(words);
});
