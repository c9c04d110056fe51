// What stands before a value.

import { expect, it } from 'vitest';
import { markOf } from './mark-of.ts';
import { slugOf } from './slug.ts';

const icons = {
  version: 'abc',
  names: {
    source: 'google hacker-news direct',
    channel: 'direct organic-search',
    browser: 'chrome mobile-safari',
    country: 'de us',
  },
};

it.each([
  ['$referrerDomain', 'www.google.de', 'icon-source-google'],
  ['$referrerDomain', 'news.ycombinator.com', 'icon-source-hacker-news'],
  ['$referrerDomain', undefined, 'icon-source-direct'],
  ['$utmSource', 'google', 'icon-source-google'],
  ['$utmSource', 'Hacker News', 'icon-source-hacker-news'],
  ['$channel', 'organic search', 'icon-channel-organic-search'],
  ['$browser', 'Mobile Safari', 'icon-browser-mobile-safari'],
  ['$country', 'DE', 'icon-country-de'],
])('%s %s has an icon', (property, value, name) => {
  expect(markOf(icons, property, value).file).toBe(`/assets/${name}-abc.svg`);
});

it.each([
  ['$referrerDomain', 'www.shop.example', 'S', 'other'],
  ['$referrerDomain', 'duckduckgo.com', 'D', 'search'],
  ['$utmSource', undefined, '', 'other'],
  ['$utmSource', 'news', 'N', 'other'],
  ['$browser', 'Mobile', 'M', undefined],
  ['$browser', 'chrome mobile-safari', 'C', undefined],
  ['$browser', undefined, '', undefined],
  ['$browser', '', '', undefined],
  ['$browser', '../..', '.', undefined],
  ['$country', 'XX', 'XX', undefined],
  ['$country', 'Atlantis', '', undefined],
  ['$os', 'Android', 'A', undefined],
])('%s %s has letters or nothing', (property, value, letters, kind) => {
  const mark = markOf(icons, property, value);
  expect([mark.file, mark.letters, mark.kind]).toEqual([undefined, letters, kind]);
});

it('without the list of icons there are letters', () => {
  expect(markOf(undefined, '$country', 'DE')).toEqual({ file: undefined, letters: 'DE' });
});

it.each([
  ['Mobile Safari', 'mobile-safari'],
  ['../../x', '-x'],
  ['X', 'x'],
])('%s in a file is %s', (value, slug) => {
  expect(slugOf(value)).toBe(slug);
});
