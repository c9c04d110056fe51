import { expect, it } from 'vitest';
import { compatFamilies } from '../../platform/compat/compat-families.ts';
import { vendorSnippets } from './vendor-snippets.ts';

const of = { origin: 'https://events.example.org', key: 'pub_own' };

it('there is a tab for each family, with the project’s key and this service’s address', () => {
  expect(vendorSnippets.map(({ id }) => id)).toEqual(compatFamilies);
  for (const { name, snippet, other } of vendorSnippets) {
    for (const text of [snippet(of), ...(other ? [other.snippet(of)] : [])]) {
      expect([name, text.includes(of.key), text.includes('events.example.org')]).toEqual([
        ...[name, true, true],
      ]);
    }
  }
});

it.each([
  ['umami', '<script', 'umami.init('],
  ['matomo', '_paq.push(', 'new MatomoTracker('],
  ['snowplow', "newTracker('sp'", 'newTracker({ namespace'],
])('what a page and a server say of %s is copied apart', (family, page, server) => {
  const { snippet, other } = vendorSnippets.find(({ id }) => id === family) ?? {};
  expect(snippet?.(of).startsWith(page)).toBe(true);
  expect(other?.where).toBe('On a server');
  expect(other?.snippet(of).startsWith(server)).toBe(true);
  expect(snippet?.(of)).not.toContain(server);
});
