// Agents of programs, and those of browsers and apps that look like them.

import { describe, expect, it } from 'vitest';
import { isCrawler } from './crawlers.ts';

const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const phone = `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${blink} Chrome/141.0.0.0 Mobile Safari/537.36`;
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';

describe('a program', () => {
  it.each([
    `${phone} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`,
    `Mozilla/5.0 ${blink}; compatible; GPTBot/1.2; +https://openai.com/gptbot)`,
    `Mozilla/5.0 ${blink}; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0`,
    `Mozilla/5.0 ${blink}; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)`,
    `Mozilla/5.0 ${blink}; compatible; PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)`,
    `Mozilla/5.0 (X11; Linux x86_64) ${blink} HeadlessChrome/120.0.0.0 Safari/537.36`,
    `${phone} Chrome-Lighthouse`,
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'WhatsApp/2.23.20.0 A',
    'Mozilla/5.0 (compatible; NobodyKnowsMe/1.0; help@example.com)',
    'ShinyNewBot/0.1',
    'Tiny Tiny RSS/1.11 (http://tt-rss.org/)',
    ...['curl/8.5.0', 'Wget/1.21', 'python-requests/2.31', 'Go-http-client/2.0', 'Ruby', 'Java/17'],
    ...['node', 'undici', 'GuzzleHttp/7', 'Faraday v2.7', 'PostmanRuntime/7.36.0'],
    ...['ELB-HealthChecker/2.0', 'kube-probe/1.31', 'GoogleHC/1.0'],
  ])('%s', (agent) => {
    expect(isCrawler(agent)).toBe(true);
  });
});

describe('a browser or an app', () => {
  it.each([
    phone,
    `Mozilla/5.0 (Linux; Android 10; CUBOT NOTE 20) ${blink} Chrome/119.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android 10; CUBOT_X18_Plus) ${blink} Chrome/119.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`,
    'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)',
    'Mozilla/5.0 (compatible; Konqueror/4.5; Linux) KHTML/4.5.4 (like Gecko)',
    `${phone} [FB_IAB/FB4A;FBAV/450.0.0;]`,
    `${iphone} Mobile/15E148 Instagram 300.0.0 (iPhone14,2; iOS 17_1; en_US; scale=3.00)`,
    `${iphone} Mobile/21B74 [Pinterest/iOS]`,
    `${iphone} Mobile/15E148 Snapchat/12.60 (like Safari/8616.2.9, panda)`,
    `${iphone} Mobile/15E148 LinkedInApp/9.29`,
    `${iphone} Mobile/15E148 Safari Line/13.20.0`,
    `${iphone} Mobile/15E148 KAKAOTALK/10.4.5`,
    `${iphone} Mobile/15E148 MicroMessenger/8.0.44(0x18002c2d) NetType/WIFI Language/en`,
    `${iphone} Mobile/15E148 musical_ly_32.5.0 BytedanceWebview/d8a21c6`,
    `${iphone} Mobile/15E148 Twitter for iPhone/10.20`,
    `${iphone} CriOS/141.0 Mobile/15E148 Safari/604.1`,
    `${iphone} GSA/300.0 Mobile/15E148 Safari/604.1`,
    ...[
      'okhttp/4.9.0',
      'Shop/9 CFNetwork/1490 Darwin/23',
      'Dart/3.1 (dart:io)',
      'Amazon CloudFront',
    ],
    ...['shop/1.0', 'nodeshop/1.0', 'Mozilla/5.0', ''],
  ])('%s', (agent) => {
    expect(isCrawler(agent)).toBe(false);
  });
});

it('looks at an agent of any length in no time', () => {
  for (const part of ['a', ' ', '(compatible; ', 'bot', 'Mobile ', 'x/1.0 ']) {
    isCrawler(part.repeat(1_024));
  }
});
