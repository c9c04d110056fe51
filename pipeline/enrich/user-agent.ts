// A User-Agent header to the agent properties, by ua-parser-js. A pure function behind a cache that is bounded in
// entries: parsing costs more than the rest of an event's path, and few agents send most requests.

import { UAParser } from 'ua-parser-js';
import { remembered } from '../../platform/memory/remembered.ts';
import { isCrawler } from './crawlers.ts';

/** A text is '' where the header does not tell it. */
export interface Agent {
  readonly browser: string;
  readonly browserVersion: string;
  readonly os: string;
  readonly osVersion: string;
  /** The model, else the type. */
  readonly device: string;
  /** mobile, tablet, desktop, console, smarttv, wearable, embedded or xr. */
  readonly deviceType: string;
  /** True for a phone, not for a tablet, like the client hint Sec-CH-UA-Mobile; undefined where the type is unknown. */
  readonly mobile: boolean | undefined;
  /** The agent is a program's: a crawler's, a headless browser's, an HTTP library's. */
  readonly crawler: boolean;
}

/** Systems whose browsers do not name a device, because they run on desktop or laptop computers. */
const desktopSystems: ReadonlySet<string> = new Set([
  'Windows',
  'Mac OS',
  'Chromium OS',
  'Linux',
  'GNU',
  'Arch',
  'CentOS',
  'Debian',
  'Fedora',
  'Gentoo',
  'Mandriva',
  'Manjaro',
  'Mint',
  'Raspbian',
  'RedHat',
  'Slackware',
  'SUSE',
  'Ubuntu',
  'FreeBSD',
  'NetBSD',
  'OpenBSD',
  'DragonFly',
  'Solaris',
]);

/** Chrome on Android sends this letter instead of the model. */
const withheldModel = 'K';

/** Returns a function from the header to the agent, which remembers the `maxEntries` headers used last. */
export function createAgentParser(maxEntries: number): (userAgent: string) => Agent {
  return remembered(maxEntries, parseAgent);
}

/**
 * In apps, tokens stand between "Mobile" and "Safari", and "wv" behind the model: ua-parser-js 1.0.41 takes the phone
 * for a tablet, and "wv" for its model.
 */
const appTokens = /(?<= Mobile) .{1,200}?(?= Safari\/)|; wv(?=\))/g;

/**
 * Safari's engine inside another browser or an app, on a system that calls itself a Mac's: an iPad that asks for
 * desktop pages. Macs have none of these, and no "Mobile".
 */
const padAsMac =
  /\(Macintosh;.*(?:CriOS\/|EdgiOS\/|FxiOS\/|OPiOS\/|OPT\/|GSA\/|FBAN\/FBIOS|Mobile\/)/;

function parseAgent(userAgent: string): Agent {
  const parser = new UAParser(userAgent);
  const browser = parser.getBrowser();
  const named = { browser: browser.name ?? '', browserVersion: browser.version ?? '' };
  const crawler = isCrawler(userAgent);
  if (padAsMac.test(userAgent)) {
    // The version is that of the Mac which the iPad claims to be.
    const pad = { os: 'iOS', osVersion: '', device: 'iPad', deviceType: 'tablet', mobile: false };
    return { ...named, ...pad, crawler };
  }
  const os = parser.getOS();
  const device = parser.setUA(userAgent.replace(appTokens, '')).getDevice();
  const deviceType = device.type ?? (desktopSystems.has(os.name ?? '') ? 'desktop' : '');
  const model = device.model === withheldModel ? undefined : device.model;
  return {
    ...named,
    os: os.name ?? '',
    osVersion: os.version ?? '',
    device: model ?? deviceType,
    deviceType,
    mobile: deviceType === '' ? undefined : deviceType === 'mobile',
    crawler,
  };
}
