// Agents of well-known headers, of the cache, and of the visitors of a real web server.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { hasTestData, testData } from '../../test/harness/test-data.ts';
import { type Agent, createAgentParser } from './user-agent.ts';

const cases: Record<string, Partial<Agent>> = {
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15':
    {
      browser: 'Safari',
      browserVersion: '17.1',
      os: 'Mac OS',
      device: 'Macintosh',
      deviceType: 'desktop',
      mobile: false,
    },
  'Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0': {
    browser: 'Firefox',
    os: 'Linux',
    osVersion: '',
    device: 'desktop',
    deviceType: 'desktop',
  },
  'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36':
    { browser: 'Chrome', os: 'Chromium OS', deviceType: 'desktop' },
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0':
    { browser: 'Edge', os: 'Windows', osVersion: '10' },
  'Mozilla/5.0 (Linux; Android 13; SM-S901B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/112.0.0.0 Mobile Safari/537.36':
    { os: 'Android', osVersion: '13', device: 'SM-S901B', deviceType: 'mobile', mobile: true },
  // Chrome sends K instead of the model.
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/112.0.0.0 Mobile Safari/537.36':
    { os: 'Android', device: 'mobile', deviceType: 'mobile', mobile: true },
  'Mozilla/5.0 (iPad; CPU OS 13_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/87.0 Mobile/15E148 Safari/604.1':
    { os: 'iOS', device: 'iPad', deviceType: 'tablet', mobile: false },
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/2.2 Chrome/63.0.3239.84 TV Safari/537.36':
    { browser: 'Samsung Internet', os: 'Tizen', device: 'smarttv', deviceType: 'smarttv' },
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)': {
    browser: '',
    os: '',
    device: '',
    deviceType: '',
    mobile: undefined,
  },
  'curl/8.5.0': { browser: '', deviceType: '', mobile: undefined, crawler: true },
  '': { browser: '', deviceType: '', mobile: undefined, crawler: false },
};

const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const mac =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';

describe('a phone', () => {
  it.each([
    ['K', 'Chrome/138.0.0.0 Mobile DuckDuckGo/5 Safari/537.36', 'DuckDuckGo', 'mobile'],
    ['K', 'Version/4.0 Chrome/138.0.0.0 Mobile DuckDuckGo/5 Safari/537.36', 'DuckDuckGo', 'mobile'],
    ['K', 'Chrome/138.0.0.0 Mobile Ecosia/1.2-x Safari/537.36', 'Chrome', 'mobile'],
    ['K', 'Chrome/138.0.0.0 Mobile Safari/537.36 (Ecosia android@138)', 'Chrome', 'mobile'],
    [
      'K; wv',
      'Version/4.0 Chrome/138.0.0.0 Mobile App(x)/1-2 Safari/537.36',
      'Chrome WebView',
      'mobile',
    ],
    [
      'Pixel 8; wv',
      'Version/4.0 Chrome/138.0.0.0 Mobile Shop/9 Safari/537.36',
      'Chrome WebView',
      'Pixel 8',
    ],
    ['ABC-12; wv', 'Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36', 'Chrome WebView', 'ABC-12'],
  ])('of (Android; %s) with %s', (model, tokens, browser, device) => {
    const agent = `Mozilla/5.0 (Linux; Android 14; ${model}) ${blink} ${tokens}`;
    expect(createAgentParser(1)(agent)).toMatchObject({
      ...{ browser, os: 'Android', device, deviceType: 'mobile', mobile: true, crawler: false },
    });
  });
});

describe('a tablet', () => {
  it.each(['K', 'K; wv'])('is Android without Mobile: (%s)', (model) => {
    const agent = `Mozilla/5.0 (Linux; Android 14; ${model}) ${blink} Chrome/138.0.0.0 Safari/537.36`;
    const expected = { device: 'tablet', deviceType: 'tablet', mobile: false };
    expect(createAgentParser(1)(agent)).toMatchObject(expected);
  });

  it.each([
    ['CriOS/141.0 Version/17.1 Safari/605.1.15', 'Chrome'],
    ['EdgiOS/141.0 Version/17.0 Safari/605.1.15', 'Edge'],
    ['FxiOS/130.0 Safari/605.1.15', 'Firefox'],
    ['GSA/300.0 Mobile/15E148 Safari/604.1', 'GSA'],
    ['Mobile/15E148 [FBAN/FBIOS;FBAV/400.0]', 'WebKit'],
    ['[FBAN/FBIOS;FBDV/iPad13,8;FBMD/iPad]', 'Facebook'],
  ])('is an iPad that calls itself a Mac: %s', (tokens, browser) => {
    expect(createAgentParser(1)(`${mac} ${tokens}`)).toMatchObject({
      ...{ browser, os: 'iOS', osVersion: '', device: 'iPad', deviceType: 'tablet', mobile: false },
    });
  });

  it.each(['Version/17.1 Safari/605.1.15', 'Version/17.1 Safari/605.1.15 Ddg/17.1'])(
    'is no Mac: %s',
    (tokens) => {
      const expected = { os: 'Mac OS', osVersion: '10.15.7', deviceType: 'desktop' };
      expect(createAgentParser(1)(`${mac} ${tokens}`)).toMatchObject(expected);
    },
  );
});

describe('the agent', () => {
  for (const [userAgent, expected] of Object.entries(cases)) {
    it(`of ${userAgent === '' ? 'an empty header' : userAgent.slice(0, 60)}`, () => {
      expect(createAgentParser(10)(userAgent)).toMatchObject(expected);
    });
  }

  it('is the same whether it comes from the cache or is parsed again', () => {
    const small = createAgentParser(2);
    const agents = Object.keys(cases);
    const once = agents.map((userAgent) => createAgentParser(1)(userAgent));
    expect(agents.map(small)).toEqual(once);
    expect(agents.map(small)).toEqual(once);
    const [first = '', second = '', third = ''] = agents;
    const held = small(first);
    small(second);
    // The first is used again, so the second makes room for the third.
    expect(small(first)).toBe(held);
    small(third);
    expect(small(first)).toBe(held);
  });

  it.runIf(hasTestData)(
    'of every visitor of a real web server has text or nothing in each field',
    () => {
      const log = gunzipSync(readFileSync(testData('visits', 'apache_access.log.gz')));
      const lines = log.toString('latin1').split('\n');
      const agents = new Set(lines.map((line) => line.split('"').at(-2) ?? ''));
      expect(agents.size).toBeGreaterThan(500);
      const parse = createAgentParser(100);
      let known = 0;
      let crawlers = 0;
      for (const userAgent of agents) {
        const { mobile, crawler, ...texts } = parse(userAgent);
        for (const text of Object.values(texts)) expect(typeof text).toBe('string');
        expect(mobile === undefined).toBe(texts.deviceType === '');
        if (texts.browser !== '') known++;
        if (crawler) crawlers++;
      }
      expect(known / agents.size).toBeGreaterThan(0.5);
      expect(crawlers).toBe(86);
    },
  );
});
