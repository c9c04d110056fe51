import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { InsightQuerySpecSchema } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { kindNamer, namer } from '../text/namer.ts';
import { stepName } from './funnel/step-names.ts';
import { groupName, questionName } from './names.ts';

it('has the raw name of kinds beside titles that several of them have', () => {
  const nameOf = kindNamer(['page_view', 'page.view', 'signup', 'signup']);
  expect(nameOf('page_view')).toBe('Page view (page_view)');
  expect(nameOf('page.view')).toBe('Page view (page.view)');
  expect(nameOf('signup')).toBe('Signup');
  expect(nameOf('never_seen')).toBe('Never seen');
});

it('tells the steps and series of a question apart', () => {
  const events = [{ event: { kind: 'page_view' } }, { event: { kind: 'page.view' } }];
  const spec = create(InsightQuerySpecSchema, { events });
  expect(questionName('Trends', spec)).toBe('Trends: Page view (page_view), Page view (page.view)');
  expect(stepName(spec, 1)).toBe('Page view (page.view)');
});

it('names hosts by their sites, with the host where two hosts of a site are in one answer', () => {
  const property = '$referrerDomain';
  const spec = create(InsightQuerySpecSchema, { breakdowns: [{ property }], session: {} });
  const groupOf = (host?: string) => ({
    breakdown: host === undefined ? {} : { [property]: host },
    isOthers: false,
  });
  const groups = ['www.google.com', 'www.google.de', 't.co', 'own.example', undefined].map(groupOf);
  const nameOf = namer(groups, (group, isExact) => groupName(spec, group, isExact));
  expect(groups.map(nameOf)).toEqual([
    'Google (www.google.com)',
    'Google (www.google.de)',
    'X',
    'own.example',
    'Direct / none',
  ]);
  // Whoever does not know the others is exact.
  expect(groupName(spec, groupOf('t.co'))).toBe('X (t.co)');
});
