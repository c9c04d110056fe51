// Hosts of well-known sites, and what only looks like them.

import { expect, it } from 'vitest';
import { knownSources } from './known-sources.ts';
import { sourceOf } from './source-of.ts';

it.each([
  ['www.google.com', 'Google'],
  ['www.google.de', 'Google'],
  ['google.co.uk', 'Google'],
  ['www.google.com.br', 'Google'],
  ['news.google.com', 'Google'],
  ['com.google.android.googlequicksearchbox', 'Google'],
  ['mail.google.com', 'Gmail'],
  ['gemini.google.com', 'Gemini'],
  ['l.facebook.com', 'Facebook'],
  ['lm.facebook.com', 'Facebook'],
  ['WWW.Facebook.com', 'Facebook'],
  ['t.co', 'X'],
  ['x.com', 'X'],
  ['mobile.twitter.com', 'X'],
  ['out.reddit.com', 'Reddit'],
  ['www.bing.com', 'Bing'],
  ['html.duckduckgo.com', 'DuckDuckGo'],
  ['de.search.yahoo.com', 'Yahoo'],
  ['search.yahoo.co.jp', 'Yahoo'],
  ['yandex.ru', 'Yandex'],
  ['www.pinterest.co.uk', 'Pinterest'],
  ['com.pinterest', 'Pinterest'],
  ['m.youtube.com', 'YouTube'],
  ['chatgpt.com', 'ChatGPT'],
  ['de.wikipedia.org', 'Wikipedia'],
])('%s is %s', (host, name) => {
  expect(sourceOf(host)?.name).toBe(name);
});

it.each([
  'docs.google.com',
  'google.example.org',
  'notgoogle.com',
  'google',
  'facebook.com.evil.example',
  'notfacebook.com',
  'ex.com',
  'ads.x.com',
  'shop.example',
  '',
])('%s is none of them', (host) => {
  expect(sourceOf(host)).toBeUndefined();
});

it('no host is listed twice, and no name', () => {
  const texts = knownSources.flatMap(({ hosts = '', sites = '', brands = '' }) => [
    ...`${hosts} ${sites}`.split(' ').filter((text) => text !== ''),
    ...brands.split(' ').flatMap((text) => (text === '' ? [] : [`${text}.*`])),
  ]);
  expect(texts).toEqual([...new Set(texts)]);
  const names = knownSources.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});
