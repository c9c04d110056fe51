import { expect, it } from 'vitest';
import { makeProjectFilter, ProjectFilters, webhooksWanting } from './project-filter.ts';

const subject = { subjectType: 'PROJECT', subjectId: 'p', eventType: 'event' } as const;
const filterOf = (webhookId: string, kinds: string[]) =>
  makeProjectFilter([{ webhookId, subscription: { ...subject, kinds } }]);

it('a filter is read once, and the oldest make room within eight MiB', () => {
  const filters = new ProjectFilters();
  const first = filterOf('w', ['purchase']);
  const read = filters.read(first);
  expect(filters.read(first)).toBe(read);
  expect(filters.read(filterOf('w', ['purchase']))).not.toBe(read);
  const large = () => filterOf('w', Array(100).fill('x'.repeat(10_000)));
  for (let count = 0; count < 20; count++) filters.read(large());
  expect(filters.size).toBe(8);
  expect(filters.read(first)).not.toBe(read);
  expect(filters.read(first).candidates('purchase')).toHaveLength(1);
});

it('a webhook that several of its subscriptions make want an event is named once', () => {
  const condition = (value: string) => ({
    ...{ property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value },
  });
  const filter = makeProjectFilter([
    { webhookId: 'a', subscription: { ...subject, properties: [condition('pro')] } },
    { webhookId: 'a', subscription: { ...subject, kinds: ['purchase', 'purchase'] } },
    { webhookId: 'b', subscription: { ...subject, properties: [condition('free')] } },
  ]);
  const subscriptions = new ProjectFilters().read(filter);
  const wanting = (kind: string, plan: string | undefined) =>
    webhooksWanting(subscriptions.candidates(kind), () => plan);
  expect(wanting('purchase', 'pro')).toEqual(['a']);
  expect(wanting('purchase', 'free')).toEqual(['a', 'b']);
  expect(wanting('signup', 'free')).toEqual(['b']);
  expect(wanting('signup', undefined)).toEqual([]);
});
