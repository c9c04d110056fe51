// The table of icons, held against what the service stores: names of sites, agents, channels and countries.

import { describe, expect, it } from 'vitest';
import type { Channel } from '../../../pipeline/enrich/attribution.ts';
import { createAgentParser } from '../../../pipeline/enrich/user-agent.ts';
import { slugOf } from '../../marks/slug.ts';
import { knownSources } from '../../sources/known-sources.ts';
import { type IconGroup, iconTable } from './icon-table.ts';

function valuesOf(group: IconGroup): string[] {
  return iconTable[group].flatMap(([values]) => values.split(', '));
}

it.each(Object.entries(iconTable))('no %s is listed twice', (_group, rows) => {
  const slugs = rows.flatMap(([values]) => values.split(', ').map(slugOf));
  expect(slugs).toEqual([...new Set(slugs)]);
});

/** `$aiAssistant` has these, besides those that are known sources. */
const assistants = [
  ...['DeepSeek', 'Doubao', 'Grok', 'Kimi', 'Meta AI', 'Mistral', 'NotebookLM', 'Phind', 'Poe'],
  'Qwen',
];

it('every known source has an icon but those that no package has', () => {
  const values = valuesOf('source');
  const names = knownSources.map(({ name }) => name);
  const isKnown = new Set([...names, ...assistants, 'Direct']);
  expect(values.filter((value) => !isKnown.has(value))).toEqual([]);
  expect(names.filter((name) => !values.includes(name))).toEqual([
    ...['DuckDuckGo', 'Ecosia', 'Startpage', 'Qwant', 'Naver', 'Seznam'],
  ]);
});

it('every channel has an icon', () => {
  const channels: Record<Channel, true> = {
    ...{ 'paid search': true, 'paid social': true, 'paid video': true, 'paid other': true },
    ...{ display: true, email: true, affiliate: true, referral: true, unassigned: true },
    ...{ 'organic search': true, 'organic social': true, 'organic video': true, direct: true },
  };
  expect(valuesOf('channel').sort()).toEqual(Object.keys(channels).sort());
});

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const phone = `Mozilla/5.0 (Linux; Android 14; Pixel 8) ${webkit}`;
const apple = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const iPhone = `Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) ${apple}`;
const windows = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/138.0.0.0`;
const gecko = (system: string) => `Mozilla/5.0 (${system}; rv:128.0) Gecko/20100101 Firefox/128.0`;

/** An agent for each value of the table: its browser, system and type of device. */
const agents: readonly (readonly [agent: string, ...values: string[]])[] = [
  [`${windows} Safari/537.36`, 'Chrome', 'Windows', 'desktop'],
  [`${windows} Safari/537.36 Edg/138.0.0.0`, 'Edge', 'Windows', 'desktop'],
  [`${windows} Safari/537.36 OPR/110.0.0.0`, 'Opera', 'Windows', 'desktop'],
  [`${windows} Safari/537.36 OPX/2.0`, 'Opera GX', 'Windows', 'desktop'],
  [`${windows} Safari/537.36 Vivaldi/6.7`, 'Vivaldi', 'Windows', 'desktop'],
  [`${windows} Brave/1.60 Safari/537.36`, 'Brave', 'Windows', 'desktop'],
  [`${windows} YaBrowser/24.1 Safari/537.36`, 'Yandex', 'Windows', 'desktop'],
  [
    ...([`Mozilla/5.0 (X11; Linux x86_64) ${webkit} HeadlessChrome/138.0 Safari/537.36`] as const),
    ...['Chrome Headless', 'Linux', 'desktop'],
  ],
  [
    `Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chromium/138.0 Chrome/138.0 Safari/537.36`,
    ...['Chromium', 'Linux', 'desktop'],
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/138.0.0.0 Safari/537.36`,
    ...['Chrome', 'Chromium OS', 'desktop'],
  ],
  [gecko('X11; Ubuntu; Linux x86_64'), 'Firefox', 'Ubuntu', 'desktop'],
  [gecko('X11; Debian; Linux x86_64'), 'Firefox', 'Debian'],
  [gecko('X11; Red Hat; Linux x86_64'), 'Firefox', 'Red Hat'],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${apple} Version/17.1 Safari/605.1.15`,
    ...['Safari', 'Mac OS', 'desktop'],
  ],
  [`${iPhone} Version/17.1 Mobile/15E148 Safari/604.1`, 'Mobile Safari', 'iOS', 'mobile'],
  [`${iPhone} FxiOS/130.0 Mobile/15E148 Safari/605.1.15`, 'Firefox', 'iOS', 'mobile'],
  [`${iPhone} GSA/300.0 Mobile/15E148 Safari/604.1`, 'GSA', 'iOS', 'mobile'],
  [`${iPhone} OPT/4.3 Mobile/15E148`, 'Opera Touch', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 Instagram 300.0`, 'Instagram', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 Snapchat/12.0`, 'Snapchat', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 [FBAN/FBIOS;FBAV/400.0;]`, 'Facebook', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 [LinkedInApp]/9.2`, 'LinkedIn', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 Twitter for iPhone/10.0`, 'Twitter', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 Safari Line/13.0`, 'Line', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 MicroMessenger/8.0`, 'WeChat', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 Weibo (iPhone__weibo__13.0)`, 'weibo', 'iOS', 'mobile'],
  [`${iPhone} Mobile/15E148 musical_ly_30.0`, 'TikTok', 'iOS', 'mobile'],
  [`${phone} Chrome/138.0.0.0 Mobile Safari/537.36`, 'Chrome', 'Android', 'mobile'],
  [`${phone} Version/4.0 Mobile Safari/534.30`, 'Android Browser', 'Android', 'mobile'],
  [
    `Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) ${webkit} Version/4.0 Chrome/138.0 Mobile Safari/537.36`,
    ...['Chrome WebView', 'Android', 'mobile'],
  ],
  [
    `${phone} Chrome/114.0 HuaweiBrowser/14.0 Mobile Safari/537.36`,
    ...['Huawei Browser', 'Android', 'mobile'],
  ],
  [`${phone} Chrome/97.0 baiduboxapp/13.0 Mobile`, 'Baidu', 'Android', 'mobile'],
  [`${phone} Focus/8.0 Chrome/97.0 Mobile Safari/537.36`, 'Firefox Focus', 'Android', 'mobile'],
  ['Opera/9.80 (Android; Opera Mini/36.2/191) Presto/2.12', 'Opera Mini', 'Android'],
  [
    'Mozilla/5.0 (Android 10; Mobile VR; rv:68.0) Gecko/68.0 Firefox/68.0',
    ...['Firefox Reality', 'Android'],
  ],
  [
    `Mozilla/5.0 (Linux; Android 14; SM-X910) ${webkit} Chrome/138.0.0.0 Safari/537.36`,
    ...['Chrome', 'Android', 'tablet'],
  ],
  [`Mozilla/5.0 (Windows Phone 10.0; Lumia 950) ${webkit}`, 'Windows Phone', 'mobile'],
  [`Mozilla/5.0 (BB10; Touch) ${webkit} Version/10.3 Mobile Safari`, 'BlackBerry', 'mobile'],
  [`Mozilla/5.0 (Phone; OpenHarmony 5.0) ${webkit} Chrome/114.0`, 'OpenHarmony'],
  [`Mozilla/5.0 (Linux; Android 10; HarmonyOS; ELS) ${webkit} Chrome/99.0`, 'HarmonyOS'],
  [`Mozilla/5.0 (PlayStation; PlayStation 5/2.26) ${apple}`, 'PlayStation', 'console'],
  ['Mozilla/5.0 (Nintendo Switch; WifiWebAuthApplet) AppleWebKit/606.4', 'Nintendo', 'console'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) ${webkit} Edge/44.0`,
    ...['Edge', 'Xbox', 'console'],
  ],
  [`Mozilla/5.0 (X11; Linux armv7l) ${webkit} Chrome/90.0 CrKey/1.56`, 'Chromecast', 'smarttv'],
  ['Mozilla/5.0 (Apple Watch; Watch OS/10.0) Watch6,1', 'watchOS', 'wearable'],
  [`Mozilla/5.0 (X11; GNU/Linux) ${webkit} Tesla/2024.2`, 'Linux', 'embedded'],
];

describe('an icon is found of', () => {
  const parse = createAgentParser(1);
  const known = new Set(
    [...valuesOf('browser'), ...valuesOf('system'), ...valuesOf('device')].map(slugOf),
  );

  it.each(agents)('%s', (agent, ...values) => {
    const { browser, os, deviceType } = parse(agent);
    const parsed = [browser, os, deviceType];
    expect({ parsed, missing: values.filter((value) => !parsed.includes(value)) }).toEqual({
      parsed,
      missing: [],
    });
    expect(values.filter((value) => !known.has(slugOf(value)))).toEqual([]);
  });

  it('each agent of the table', () => {
    const parsed = new Set(agents.flatMap(([, ...values]) => values.map(slugOf)));
    // A sender with a private key may say it; ua-parser-js takes such devices for wearables.
    expect([...known].filter((value) => !parsed.has(value))).toEqual(['xr']);
  });
});

it('every country that the language knows has a flag', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  // Reserved, of no country, or of one that has another code by now.
  const others = new Set(
    `AC AN BU CP CQ CS CT DD DG DY EA EU EZ FQ FX HV IC JT MI NH NQ NT PC PU PZ QO QU RH SU TA TP UK UN VD WK XA XB YD YU
    ZR ZZ`.split(/\s+/),
  );
  const codes = letters.flatMap((first) =>
    letters
      .map((second) => first + second)
      .filter((code) => !others.has(code) && names.of(code) !== undefined),
  );
  expect(codes.length).toBeGreaterThan(240);
  expect(codes.filter((code) => !valuesOf('country').includes(code))).toEqual([]);
});
