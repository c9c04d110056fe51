import { expect, it } from 'vitest';
import { compatFamilies } from '../../platform/compat/compat-families.ts';
import { vendorSnippets } from './vendor-snippets.ts';

const of = { origin: 'https://events.example.org', key: 'pub_own' };
const serverLine = '\n// On a server:\n';

it('there is a tab for each family, with the project’s key and this service’s address', () => {
  expect(vendorSnippets.map(({ id }) => id)).toEqual(compatFamilies);
  for (const { name, snippet } of vendorSnippets) {
    const text = snippet(of);
    for (const part of text.split(serverLine)) {
      expect([name, part.includes(of.key), part.includes('events.example.org')]).toEqual([
        ...[name, true, true],
      ]);
    }
  }
});

it.each([
  ['umami', '<script', 'umami.init('],
  ['matomo', '_paq.push(', 'new MatomoTracker('],
  ['snowplow', "newTracker('sp'", 'newTracker({ namespace'],
])('the tab of %s has the line of a page and that of a server', (family, page, server) => {
  const text = vendorSnippets.find(({ id }) => id === family)?.snippet(of) ?? '';
  const [ofPage, ofServer] = text.split(serverLine);
  expect([ofPage?.startsWith(page), ofServer?.startsWith(server)]).toEqual([true, true]);
});
