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
  'curl/8.5.0': { browser: '', deviceType: '', mobile: undefined },
  '': { browser: '', deviceType: '', mobile: undefined },
};

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
      for (const userAgent of agents) {
        const { mobile, ...texts } = parse(userAgent);
        for (const text of Object.values(texts)) expect(typeof text).toBe('string');
        expect(mobile === undefined).toBe(texts.deviceType === '');
        if (texts.browser !== '') known++;
      }
      expect(known / agents.size).toBeGreaterThan(0.5);
    },
  );
});
