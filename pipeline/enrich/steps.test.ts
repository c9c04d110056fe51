// Every step of enrichment: a small event in, its properties out. The reference path only.

import { describe, expect, it } from 'vitest';
import { autoColumns, propertyMaps } from '../../platform/clickhouse/event-columns.ts';
import type { RequestContext } from '../../proto/wire/frame.ts';
import { createRequestRows, decodeRequest } from '../build/rows/reference-rows.ts';
import type { EventRow } from './event-row.ts';
import { enrich } from './steps.ts';
import { createAgentParser } from './user-agent.ts';

const chromeOnWindows =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
const safariOnIphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1';
const berlin = {
  country: 'DE',
  region: 'BE',
  city: 'Berlin',
  continent: 'EU',
  latitude: 52.5,
  longitude: 13.4,
  timezone: 'Europe/Berlin',
};

type Values = Record<string, unknown>;

/** Every property of an event with these auto properties after enrichment, by name. */
function enriched(auto: Values, context: Partial<RequestContext> = {}): Values {
  const request = createRequestRows();
  const event = {
    eventId: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0',
    sessionId: '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f1',
    distinctId: 'v',
    kind: 'page_view',
    occurTime: '2026-11-20T10:00:00Z',
    autoProperties: auto,
    customProperties: { plan: { stringValue: 'pro' } },
  };
  const unreadable = decodeRequest(
    {
      context: {
        projectId: 'p',
        credential: 'public',
        receiveTimeMs: Date.UTC(2026, 10, 20, 10),
        ...context,
      },
      body: Buffer.from(JSON.stringify({ events: [event] })),
      events: 1,
    },
    request,
  );
  expect(unreadable).toEqual([]);
  enrich(request, createAgentParser(10));
  const [row] = request.rows;
  if (row === undefined) throw new Error('no row');
  const { plan, ...rest } = propertiesOf(row);
  expect(plan).toBe('pro');
  return rest;
}

function propertiesOf(row: EventRow): Values {
  const values: Values = {};
  autoColumns.forEach(({ property }, slot) => {
    if (row.texts[slot] !== '') values[property] = row.texts[slot];
  });
  for (let index = 0; index < row.count; index++) {
    const key = row.keys[index] ?? '';
    expect(values).not.toHaveProperty([key]);
    const variant = propertyMaps[row.variants[index] ?? 0]?.variant;
    const value = row.values[index];
    values[key] =
      variant === 'stringValue' || variant === 'boolValue' ? value : { [`${variant}`]: value };
  }
  return values;
}

const text = (stringValue: string): Values => ({ stringValue });

describe('with a private key', () => {
  const context = {
    credential: 'private',
    userAgent: chromeOnWindows,
    location: berlin,
  } as const;

  it('nothing is derived', () => {
    expect(enriched({}, context)).toEqual({});
    const sent = {
      $url: text('https://a.example/x?utm_source=google'),
      $country: text('deutschland'),
    };
    expect(enriched(sent, context)).toEqual({
      $url: 'https://a.example/x?utm_source=google',
      $country: 'deutschland',
    });
  });

  it('sent properties stay, even those that a public key must not set', () => {
    const sent = {
      $channel: text('mine'),
      $referrerDomain: text('r'),
      $aiAssistant: text('a'),
      $bot: { boolValue: true },
      $latitude: { doubleValue: 1 },
    };
    expect(enriched(sent, { ...context, botScore: 1 })).toEqual({
      $channel: 'mine',
      $referrerDomain: 'r',
      $aiAssistant: 'a',
      $bot: true,
      $bot_score: { intValue: 1 },
      $latitude: { doubleValue: 1 },
    });
  });

  it('only the server sets address and bot signals, of any type', () => {
    const sent = {
      $ip: text('203.0.113.7'),
      $bot_score: { intValue: '99' },
      $verified_bot: { boolValue: true },
      $kept: text('x'),
    };
    expect(enriched(sent, context)).toEqual({ $kept: 'x' });
    expect(enriched(sent, { ...context, botScore: 30, verifiedBot: false })).toEqual({
      $bot_score: { intValue: 30 },
      $verified_bot: false,
      $kept: 'x',
    });
    expect(enriched({ $ip: { intValue: '1' }, $bot_score: text('99') }, context)).toEqual({});
  });
});

describe('with a public key', () => {
  it('a request without facts adds nothing', () => {
    expect(enriched({})).toEqual({});
  });

  it('only the server sets address and bot signals', () => {
    const sent = { $ip: text('203.0.113.7'), $bot_score: { intValue: '99' } };
    expect(enriched(sent)).toEqual({});
    expect(enriched(sent, { botScore: 99, verifiedBot: false })).toEqual({
      $bot_score: { intValue: 99 },
      $verified_bot: false,
    });
  });

  it.each([
    ['a score of a program', { botScore: 29 }, true],
    ['a score of a person', { botScore: 30 }, undefined],
    ['no judgement', { botScore: 0 }, undefined],
    ['a verified bot', { botScore: 99, verifiedBot: true }, true],
    ['an agent of a crawler', { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1)' }, true],
    ['a browser', { userAgent: chromeOnWindows, verifiedBot: false }, undefined],
  ])('%s decides whether a bot made the event, whatever was sent', (_, context, expected) => {
    expect(enriched({}, context)['$bot']).toBe(expected);
    for (const value of [text('no'), { boolValue: false }, { boolValue: true }]) {
      expect(enriched({ $bot: value }, context)['$bot']).toBe(expected);
    }
  });

  it('only the server sets the place', () => {
    const located = {
      $country: 'DE',
      $region: 'BE',
      $city: 'Berlin',
      $continent: 'EU',
      $latitude: { doubleValue: 52.5 },
      $longitude: { doubleValue: 13.4 },
      $timezone: 'Europe/Berlin',
    };
    expect(enriched({}, { location: berlin })).toEqual(located);
    const sent = {
      $country: text('US'),
      $region: { intValue: '5' },
      $city: text('Springfield'),
      $continent: { boolValue: true },
      $latitude: text('1'),
      $longitude: { doubleValue: 2 },
    };
    expect(enriched(sent, { location: berlin })).toEqual(located);
    expect(enriched(sent)).toEqual({});
    expect(enriched(sent, { location: { country: 'FR' } })).toEqual({ $country: 'FR' });
  });

  it('a time zone that was sent stays', () => {
    expect(enriched({ $timezone: text('Asia/Tokyo') }, { location: berlin })).toMatchObject({
      $timezone: 'Asia/Tokyo',
    });
    expect(enriched({ $timezone: { intValue: '2' } }, { location: berlin })).toMatchObject({
      $timezone: { intValue: 2 },
    });
  });

  it('the agent fills the properties that are absent', () => {
    expect(enriched({}, { userAgent: chromeOnWindows })).toEqual({
      $browser: 'Chrome',
      $browserVersion: '120.0.0.0',
      $os: 'Windows',
      $osVersion: '10',
      $device: 'desktop',
      $deviceType: 'desktop',
      $mobile: false,
    });
    expect(enriched({}, { userAgent: safariOnIphone })).toEqual({
      $browser: 'Mobile Safari',
      $browserVersion: '17.1',
      $os: 'iOS',
      $osVersion: '17.1',
      $device: 'iPhone',
      $deviceType: 'mobile',
      $mobile: true,
    });
  });

  it('the agent changes no sent property, and puts no version beside a sent name', () => {
    const sent = {
      $browser: text('MyApp'),
      $os: { intValue: '7' },
      $device: text(''),
      $mobile: text('no'),
    };
    expect(enriched(sent, { userAgent: safariOnIphone })).toEqual({
      $browser: 'MyApp',
      $os: { intValue: 7 },
      $device: '',
      $deviceType: 'mobile',
      $mobile: 'no',
    });
    expect(enriched({ $browserVersion: text('1') }, { userAgent: safariOnIphone })).toMatchObject({
      $browser: 'Mobile Safari',
      $browserVersion: '1',
    });
  });

  it('an agent that names nothing adds nothing', () => {
    expect(enriched({}, { userAgent: 'shop/1.0' })).toEqual({});
    expect(enriched({}, { userAgent: '' })).toEqual({});
  });

  it("the page's address gives host, path, campaign and channel", () => {
    const url =
      'https://Shop.Example:8443/a/b%20c?x=1&utm_source=News+Letter&utm_medium=email&utm_campaign=sp%C3%A4t&utm_term=t&utm_content=c#top';
    expect(enriched({ $url: text(url) })).toEqual({
      $url: url,
      $hostname: 'shop.example',
      $pathname: '/a/b%20c',
      $utmSource: 'News Letter',
      $utmMedium: 'email',
      $utmCampaign: 'spät',
      $utmTerm: 't',
      $utmContent: 'c',
      $channel: 'email',
    });
  });

  it('sent page and campaign properties stay, sent channel and referrer domain do not', () => {
    const sent = {
      $url: text('https://shop.example/a?utm_source=x'),
      $referrer: text('https://www.google.com/search?q=y'),
      $pathname: text('/other'),
      $hostname: text('h'),
      $utmSource: text('mine'),
      $channel: text('direct'),
      $referrerDomain: text('evil'),
    };
    expect(enriched(sent)).toEqual({
      $url: 'https://shop.example/a?utm_source=x',
      $referrer: 'https://www.google.com/search?q=y',
      $pathname: '/other',
      $hostname: 'h',
      $utmSource: 'mine',
      $referrerDomain: 'www.google.com',
      $channel: 'unassigned',
    });
    expect(enriched({ $channel: text('direct'), $referrerDomain: { intValue: '1' } })).toEqual({});
  });

  it('an event without page, referrer and campaign gets no channel', () => {
    expect(enriched({ $screen: text('home') })).toEqual({ $screen: 'home' });
    expect(enriched({ $url: text('') })).toEqual({ $url: '' });
  });

  it('a referrer alone is enough for a channel', () => {
    expect(enriched({ $referrer: text('https://t.co/abc') })).toEqual({
      $referrer: 'https://t.co/abc',
      $referrerDomain: 't.co',
      $channel: 'organic social',
    });
  });

  it('an app that refers counts as its site', () => {
    expect(enriched({ $referrer: text('android-app://com.pinterest/') })).toEqual({
      $referrer: 'android-app://com.pinterest/',
      $referrerDomain: 'com.pinterest',
      $channel: 'organic social',
    });
  });

  it('an AI assistant is told beside the channel', () => {
    const url = 'https://shop.example/?utm%5Fsource=chatgpt.com%20';
    expect(enriched({ $url: text(url), $aiAssistant: text('mine') })).toEqual({
      $url: url,
      $hostname: 'shop.example',
      $pathname: '/',
      $utmSource: 'chatgpt.com',
      $channel: 'referral',
      $aiAssistant: 'ChatGPT',
    });
    const sent = { $utmSource: text(' ChatGPT.com '), $referrer: text('https://claude.ai/') };
    expect(enriched(sent)).toMatchObject({ $channel: 'referral', $aiAssistant: 'ChatGPT' });
  });
});
