// A hundred-odd user agents that browsers, apps and bots send now, each with the names that a parser should find. Made
// from the vendors' fixed patterns; not a parser and not a census.

import { createWeighted, type Random } from '../random.ts';

export interface Agent {
  userAgent: string;
  browser: string;
  browserVersion: string;
  os: string;
  osVersion: string;
  deviceType: 'desktop' | 'mobile' | 'tablet' | 'bot';
  device?: string;
}

interface System {
  token: string;
  os: string;
  osVersion: string;
  deviceType: Agent['deviceType'];
  device?: string;
}

const windows: System = {
  token: 'Windows NT 10.0; Win64; x64',
  os: 'Windows',
  osVersion: '10',
  deviceType: 'desktop',
};
const mac: System = {
  token: 'Macintosh; Intel Mac OS X 10_15_7',
  os: 'Mac OS',
  osVersion: '10.15.7',
  deviceType: 'desktop',
};
const linux: System = {
  token: 'X11; Linux x86_64',
  os: 'Linux',
  osVersion: '',
  deviceType: 'desktop',
};
const ubuntu: System = {
  token: 'X11; Ubuntu; Linux x86_64',
  os: 'Ubuntu',
  osVersion: '',
  deviceType: 'desktop',
};
const chromeOs: System = {
  token: 'X11; CrOS x86_64 14541.0.0',
  os: 'Chromium OS',
  osVersion: '14541.0.0',
  deviceType: 'desktop',
};

const androidModels = [
  ...['Pixel 7', 'Pixel 8', 'Pixel 8a', 'Pixel 9 Pro', 'SM-A156B', 'SM-A546B', 'SM-S911B'],
  ...['SM-S921U', 'SM-S938B', 'M2102J20SG', '2201116SG', '23053RN02A', 'CPH2481', 'V2207'],
  ...['moto g power (2024)', 'XQ-DQ72', 'A063', 'RMX3771'],
];

function android(device: string, osVersion: string): System {
  const token = `Linux; Android ${osVersion}; ${device}`;
  return { token, os: 'Android', osVersion, deviceType: 'mobile', device };
}

const engine = 'AppleWebKit/537.36 (KHTML, like Gecko)';

function chrome(system: System, major: number): Agent {
  const mobile = system.deviceType === 'mobile' ? ' Mobile' : '';
  return agent(
    system,
    'Chrome',
    `${major}.0.0.0`,
    `${engine} Chrome/${major}.0.0.0${mobile} Safari/537.36`,
  );
}

function edge(system: System, major: number): Agent {
  const tail = `${engine} Chrome/${major}.0.0.0 Safari/537.36 Edg/${major}.0.0.0`;
  return agent(system, 'Edge', `${major}.0.0.0`, tail);
}

function opera(system: System, major: number): Agent {
  const tail = `${engine} Chrome/${major + 16}.0.0.0 Safari/537.36 OPR/${major}.0.0.0`;
  return agent(system, 'Opera', `${major}.0.0.0`, tail);
}

function samsung(system: System, major: number): Agent {
  const tail = `${engine} SamsungBrowser/${major}.0 Chrome/130.0.0.0 Mobile Safari/537.36`;
  return agent(system, 'Samsung Internet', `${major}.0`, tail);
}

function firefox(system: System, major: number): Agent {
  const token = { ...system, token: `${system.token}; rv:${major}.0` };
  return agent(token, 'Firefox', `${major}.0`, `Gecko/20100101 Firefox/${major}.0`);
}

function safari(version: string): Agent {
  const tail = `AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} Safari/605.1.15`;
  return agent(mac, 'Safari', version, tail);
}

function appleMobile(device: 'iPhone' | 'iPad', version: string, app?: string): Agent {
  const osVersion = version;
  const cpu = device === 'iPhone' ? 'CPU iPhone OS' : 'CPU OS';
  const token = `${device}; ${cpu} ${version.replaceAll('.', '_')} like Mac OS X`;
  const deviceType = device === 'iPhone' ? 'mobile' : 'tablet';
  const system: System = { token, os: 'iOS', osVersion, deviceType, device };
  const head = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
  if (app !== undefined) {
    return agent(system, 'Chrome', app, `${head} CriOS/${app} Mobile/15E148 Safari/604.1`);
  }
  const tail = `${head} Version/${version} Mobile/15E148 Safari/604.1`;
  return agent(system, 'Mobile Safari', version, tail);
}

function agent(system: System, browser: string, browserVersion: string, tail: string): Agent {
  const { os, osVersion, deviceType, device } = system;
  const userAgent = `Mozilla/5.0 (${system.token}) ${tail}`;
  const known: Agent = { userAgent, browser, browserVersion, os, osVersion, deviceType };
  return device === undefined ? known : { ...known, device };
}

function bot(browser: string, browserVersion: string, userAgent: string): Agent {
  return { userAgent, browser, browserVersion, os: '', osVersion: '', deviceType: 'bot' };
}

const recentChrome = [138, 139, 140, 141, 142];

const desktops: Agent[] = [
  ...recentChrome.flatMap((major) => [windows, mac, linux].map((system) => chrome(system, major))),
  ...[138, 141].map((major) => chrome(chromeOs, major)),
  ...[109, 120, 131].map((major) => chrome(windows, major)),
  ...[139, 140, 141, 142].flatMap((major) => [edge(windows, major), edge(mac, major)]),
  ...[128, 140, 143, 144].flatMap((major) => [windows, mac, ubuntu].map((s) => firefox(s, major))),
  ...['16.6', '17.6', '18.3', '18.6', '26.0', '26.1'].map(safari),
  ...[119, 122].flatMap((major) => [opera(windows, major), opera(mac, major)]),
];

const phones: Agent[] = [
  ...androidModels.map((model, index) =>
    chrome(android(model, String(12 + (index % 4))), 138 + (index % 5)),
  ),
  ...androidModels
    .slice(4, 9)
    .map((model, index) => samsung(android(model, '14'), 25 + (index % 4))),
  ...['16.7', '17.5', '17.7', '18.1', '18.5', '18.6', '26.0', '26.1'].map((version) =>
    appleMobile('iPhone', version),
  ),
  ...['17.7', '18.6', '26.0'].map((version) => appleMobile('iPad', version)),
  ...['138.0.7204.156', '140.0.7339.95', '142.0.7444.46'].map((app) =>
    appleMobile('iPhone', '18.6', app),
  ),
  ...[140, 143].map((major) =>
    firefox({ ...android('', '15'), token: 'Android 15; Mobile' }, major),
  ),
];

const bots: Agent[] = [
  bot(
    'Googlebot',
    '2.1',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  ),
  bot('bingbot', '2.0', 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)'),
  bot('YandexBot', '3.0', 'Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)'),
  bot('AhrefsBot', '7.0', 'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)'),
  bot(
    'SemrushBot',
    '7',
    'Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)',
  ),
  bot('GPTBot', '1.2', `Mozilla/5.0 ${engine}; compatible; GPTBot/1.2; +https://openai.com/gptbot`),
  bot(
    'ClaudeBot',
    '1.0',
    `Mozilla/5.0 ${engine}; compatible; ClaudeBot/1.0; +claudebot@anthropic.com`,
  ),
  bot('DuckDuckBot', '1.1', 'DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)'),
  bot(
    'facebookexternalhit',
    '1.1',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  ),
  bot('curl', '8.11.1', 'curl/8.11.1'),
  bot('python-requests', '2.32.3', 'python-requests/2.32.3'),
  bot('Go-http-client', '1.1', 'Go-http-client/1.1'),
];

/** All of them, desktops first. */
export const agents: readonly Agent[] = [...desktops, ...phones, ...bots];

const pickGroup = createWeighted([
  [44, desktops],
  [53, phones],
  [3, bots],
]);

/** An agent for one visitor: mostly phones and desktops, a few bots. */
export function pickAgent(random: Random): Agent {
  return random.pick(pickGroup(random));
}
