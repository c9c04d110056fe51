// Channels of visits, kinds of sources, and parts of addresses, as tables.

import { describe, expect, it } from 'vitest';
import { queryValue, splitUrl } from '../../proto/wire/page-url.ts';
import { aiAssistantOfVisit, type Channel, channelOf, type Visit } from './attribution.ts';
import { siteOfApp, sourceKind } from './traffic-sources.ts';

/** Page, referrer, expected channel. */
const visits: [string, string, Channel][] = [
  ['https://shop.example/', '', 'direct'],
  ['https://shop.example/', 'https://shop.example/other', 'direct'],
  ['https://shop.example/', 'https://www.shop.example/other', 'direct'],
  ['https://shop.example/', 'https://blog.shop.example/other', 'referral'],
  ['https://shop.example/', 'https://www.google.com/', 'organic search'],
  ['https://shop.example/', 'https://www.google.co.uk/', 'organic search'],
  ['https://shop.example/', 'https://duckduckgo.com/', 'organic search'],
  ['https://shop.example/', 'https://mail.google.com/', 'referral'],
  ['https://shop.example/', 'https://m.facebook.com/', 'organic social'],
  ['https://shop.example/', 'https://t.co/x', 'organic social'],
  ['https://shop.example/', 'https://www.youtube.com/watch?v=1', 'organic video'],
  ['https://shop.example/', 'https://youtu.be/1', 'organic video'],
  ['https://shop.example/', 'https://news.example/article', 'referral'],
  ['https://shop.example/', 'https://google.evil.example/', 'referral'],
  ['https://shop.example/?gclid=abc', '', 'paid search'],
  ['https://shop.example/?utm_source=google&gclid=abc', '', 'paid search'],
  ['https://shop.example/?utm_source=newsletter&ttclid=abc', '', 'paid social'],
  ['https://shop.example/?utm_source=google&utm_medium=organic&gclid=abc', '', 'organic search'],
  ['https://shop.example/', 'https://www.google.com./', 'organic search'],
  ['https://shop.example/', 'https://search.daum.net/search?q=a', 'organic search'],
  ['https://shop.example/', 'https://go.mail.ru/search', 'organic search'],
  ['https://shop.example./', 'https://shop.example/', 'direct'],
  ['https://shop.example/?a=b&msclkid=abc', 'https://www.bing.com/', 'paid search'],
  ['https://shop.example/?ttclid=abc', '', 'paid social'],
  ['https://shop.example/?dclid=abc', '', 'display'],
  ['https://shop.example/?fbclid=abc', 'https://l.facebook.com/', 'organic social'],
  ['https://shop.example/?gclid=', '', 'direct'],
  ['https://shop.example/?notgclid=abc', '', 'direct'],
  ['https://shop.example/?utm_source=google&utm_medium=cpc', '', 'paid search'],
  ['https://shop.example/?utm_source=Google&utm_medium=CPC', '', 'paid search'],
  ['https://shop.example/?utm_source=facebook&utm_medium=paid_social', '', 'paid social'],
  ['https://shop.example/?utm_source=fb&utm_medium=cpm', '', 'paid social'],
  ['https://shop.example/?utm_source=youtube&utm_medium=cpv', '', 'paid video'],
  ['https://shop.example/?utm_source=youtube.com&utm_medium=ppc', '', 'paid video'],
  ['https://shop.example/?utm_source=somewhere&utm_medium=cpc', '', 'paid other'],
  ['https://shop.example/?utm_source=somewhere&utm_medium=cpm', '', 'display'],
  ['https://shop.example/?utm_source=somewhere&utm_medium=banner', '', 'display'],
  ['https://shop.example/?utm_source=somewhere&utm_medium=social', '', 'organic social'],
  ['https://shop.example/?utm_source=linkedin', '', 'organic social'],
  ['https://shop.example/?utm_source=somewhere&utm_medium=video', '', 'organic video'],
  ['https://shop.example/?utm_source=bing&utm_medium=organic', '', 'organic search'],
  ['https://shop.example/?utm_source=somewhere&utm_medium=organic', '', 'organic search'],
  ['https://shop.example/?utm_source=partner&utm_medium=referral', '', 'referral'],
  ['https://shop.example/?utm_source=newsletter&utm_medium=email', '', 'email'],
  ['https://shop.example/?utm_source=email', '', 'email'],
  ['https://shop.example/?utm_source=partner&utm_medium=affiliate', '', 'affiliate'],
  ['https://shop.example/?utm_source=newsletter', '', 'unassigned'],
  ['https://shop.example/?utm_medium=sms', 'https://www.google.com/', 'organic search'],
  ['https://shop.example/?utm_medium=cpc', 'https://www.google.com/', 'paid search'],
  ['https://shop.example/?utm_campaign=spring', '', 'unassigned'],
  ['https://shop.example/', 'https://chatgpt.com/', 'referral'],
  ['https://shop.example/?utm_source=chatgpt.com', 'https://chatgpt.com/', 'referral'],
  ['https://shop.example/?utm_source=chatgpt', '', 'referral'],
  ['https://shop.example/?utm_source=news.example', '', 'referral'],
  ['https://shop.example/?utm_source=letter.2026', '', 'unassigned'],
  ['https://shop.example/?utm_source=news.example&utm_medium=sms', '', 'unassigned'],
  ['https://shop.example/?utm_source=www.google.com', '', 'organic search'],
  ['https://shop.example/?utm%5Fsource=google&utm%5fmedium=cpc', '', 'paid search'],
  ['https://shop.example/?utm_source=+google%20&utm_medium=%20cpc', '', 'paid search'],
];

function visitOf(url: string, referrer: string): Visit {
  const { hostname, query } = splitUrl(url);
  return {
    hostname,
    query,
    referrerSite: splitUrl(referrer).hostname,
    utmSource: queryValue(query, 'utm_source').toLowerCase(),
    utmMedium: queryValue(query, 'utm_medium').toLowerCase(),
    utmCampaign: queryValue(query, 'utm_campaign').toLowerCase(),
  };
}

describe('the channel', () => {
  for (const [url, referrer, expected] of visits) {
    it(`of ${url} from ${referrer || 'nowhere'}`, () => {
      expect(channelOf(visitOf(url, referrer))).toBe(expected);
    });
  }
});

describe('the AI assistant', () => {
  it.each([
    ['https://shop.example/', 'https://chatgpt.com/', 'ChatGPT'],
    ['https://shop.example/?utm_source=chatgpt.com', '', 'ChatGPT'],
    ['https://shop.example/?utm_source=Perplexity&utm_medium=cpc', '', 'Perplexity'],
    ['https://shop.example/', 'https://www.perplexity.ai/search/x', 'Perplexity'],
    ['https://shop.example/?utm_source=news', 'https://gemini.google.com/app', 'Gemini'],
    ['https://shop.example/', 'https://www.google.com/', ''],
    ['https://shop.example/', 'https://chatgpt.com.evil.example/', ''],
    ['https://shop.example/', '', ''],
  ])('of %s from %s is "%s"', (url, referrer, expected) => {
    expect(aiAssistantOfVisit(visitOf(url, referrer))).toBe(expected);
  });
});

describe('the site of an app', () => {
  it.each([
    ['com.pinterest', 'pinterest.com', 'social'],
    ['com.google.android.apps.searchlite', 'google.com', 'search'],
    ['jp.naver.line.android', 'line.me', 'social'],
    ['com.whatsapp', 'whatsapp.com', 'social'],
    ['com.whatsapp.w4b', 'w4b.whatsapp.com', 'social'],
    ['com.facebook.katana', 'katana.facebook.com', 'social'],
    ['com.instagram.android', 'android.instagram.com', 'social'],
    ['org.telegram.messenger', 'messenger.telegram.org', 'social'],
    ['com.zhiliaoapp.musically', 'tiktok.com', 'social'],
    ['com.google.android.youtube.tv', 'youtube.com', 'video'],
    ['tv.twitch.android.app', 'app.android.twitch.tv', 'video'],
    ['com.microsoft.bing', 'bing.com', 'search'],
    ['com.google.android.googlequicksearchbox', 'google.com', 'search'],
    ['com.google.android.gm', 'gm.android.google.com', undefined],
    ['com.evil.google.x', 'x.google.evil.com', undefined],
    ['', '', undefined],
  ])('%s is %s', (app, site, kind) => {
    expect(siteOfApp(app)).toBe(site);
    expect(sourceKind(site)).toBe(kind);
  });
});

describe('sources', () => {
  it.each([
    ['google', 'search'],
    ['www.google.de', 'search'],
    ['google.com.br', 'search'],
    ['news.google.com', 'search'],
    ['images.google.co.jp', 'search'],
    ['m.yandex.com.tr', 'search'],
    ['uk.search.yahoo.com', 'search'],
    ['search.yahoo.co.jp', 'search'],
    ['html.duckduckgo.com', 'search'],
    ['m.search.naver.com', 'search'],
    ['x.com', 'social'],
    ['x', 'social'],
    ['x.example', undefined],
    ['old.reddit.com', 'social'],
    ['reddit.com.evil.example', undefined],
    ['vimeo.com', 'video'],
    ['com', undefined],
    ['', undefined],
    ['.', undefined],
    ['..', undefined],
    ['constructor', undefined],
  ])('%s is %s', (source, kind) => {
    expect(sourceKind(source)).toBe(kind);
  });
});

describe('a host that is no search and no post', () => {
  it.each([
    'docs.google.com',
    'gemini.google.com',
    'ads.google.com',
    'groups.google.com',
    'analytics.google.com',
    'tagassistant.google.com',
    'mail.google.co.uk',
    'disk.yandex.ru',
    'mail.yahoo.com',
    'finance.yahoo.com',
    'tieba.baidu.com',
    'blog.naver.com',
    'blog.ecosia.org',
    'com.evil.google.x',
    'google.evil.example',
    'evil.google.x',
    'google.org',
    'copilot.bing.com',
    'business.facebook.com',
    'ads.tiktok.com',
    'studio.youtube.com',
  ])('%s', (host) => {
    expect(sourceKind(host)).toBeUndefined();
  });
});

describe('addresses', () => {
  it.each([
    ['https://a.example', 'a.example', '/', ''],
    ['https://a.example?q', 'a.example', '/', 'q'],
    ['https://a.example/x/?q=1#h?z', 'a.example', '/x/', 'q=1'],
    ['HTTP://User:Pw@A.Example:80/X', 'a.example', '/X', ''],
    ['https://[2001:DB8::1]:443/x', '[2001:db8::1]', '/x', ''],
    ['/x?y=https://b.example/', '', '/x', 'y=https://b.example/'],
    ['x?y', '', '', 'y'],
    ['about:blank', '', '', ''],
    ['mailto:a@b.example', '', '', ''],
    ['file:///c/d', '', '/c/d', ''],
    ['', '', '', ''],
    ['://', '', '', ''],
    ['#?', '', '', ''],
    ['https://', '', '/', ''],
  ])('%s', (url, hostname, pathname, query) => {
    expect(splitUrl(url)).toEqual({ hostname, pathname, query });
  });

  it.each([
    ['utm_source=a', 'a'],
    ['x=1&utm_source=a&utm_source=b', 'a'],
    ['xutm_source=a&utm_source=b', 'b'],
    ['utm_sourcex=a&utm_source=b', 'b'],
    ['utm_source=a+b%20c', 'a b c'],
    ['utm%5Fsource=a', 'a'],
    ['%75tm%5fsource=a&utm_source=b', 'a'],
    ['%zz=1&utm_source=a', 'a'],
    ['utm_source=%20a+&x=%20', 'a'],
    ['&&=&utm_source=a=b', 'a=b'],
    ['utm_source=%zz', '%zz'],
    ['utm_source=%E4', '%E4'],
    ['utm_source=&x', ''],
    ['utm_source', ''],
    ['', ''],
  ])('utm_source of %s', (query, value) => {
    expect(queryValue(query, 'utm_source')).toBe(value);
  });
});
