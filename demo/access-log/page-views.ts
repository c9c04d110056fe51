// Turns lines of an access log into page_view events, with the properties that the server would have derived from the
// requests. The address never leaves this file: visitors, sessions and events are named by keyed hashes, so that the
// same file gives the same ids again and nobody without the secret can try out addresses.

import { createHmac, type Hmac } from 'node:crypto';
import { UAParser } from 'ua-parser-js';
import { parseUrl } from '../../platform/http/parse-url.ts';
import {
  maxOccurTimeAheadMs,
  maxStringValueCodePoints,
  minOccurTimeMs,
} from '../../platform/limits.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import { bool, type Event, int, type Properties, rfc3339, text } from '../visits/event.ts';
import type { LogLine } from './access-log.ts';

/** Why a line is no page view. */
export const skipReasons = ['method', 'status', 'asset', 'time'] as const;
export type SkipReason = (typeof skipReasons)[number];

export type Mapped =
  | { kind: 'event'; event: Event; bot: boolean }
  | { kind: 'skipped'; why: SkipReason };

export interface MapperOptions {
  /** Secret because its holder can find the address behind a visitor id by trying all addresses. */
  secret: string;
  /** The site's host, for lines that name none. */
  hostname: string;
  scheme: string;
  /** Also sends requests that are no page views, as events of the kind `request`. */
  all: boolean;
  /** The time now: lines of more than 48 h after it are skipped, as no instance takes them. */
  nowMs: number;
}

const sessionGapMs = 30 * 60_000;
const maxOpenSessions = 200_000;
const maxCountedLines = 100_000;
const maxKnownAgents = 20_000;

/** Returns a function from line to event; `raw` is the line's text in the log. */
export function createMapper(options: MapperOptions): (line: LogLine, raw: string) => Mapped {
  const hash = (purpose: string): Hmac =>
    createHmac('sha256', options.secret).update(`${purpose}\0`);
  const sessions = createSessions((start) => uuidOf(hash('session').update(start)));
  const copies = createCopyCounter();
  const agents = createAgentReader();
  return (line, raw) => {
    const why = skipReason(line, options.nowMs);
    if (why === 'time' || (why !== undefined && !options.all)) return { kind: 'skipped', why };
    const visitor = hash('visitor')
      .update(`${line.address}\0${line.userAgent ?? ''}`)
      .digest();
    const distinctId = `anon-${visitor.subarray(0, 16).toString('base64url')}`;
    const agent = agents(line.userAgent ?? '');
    const event: Event = {
      eventId: uuidOf(hash('event').update(`${copies(raw)}\0${raw}`)),
      kind: why === undefined ? 'page_view' : 'request',
      distinctId,
      sessionId: sessions(distinctId, line.timeMs),
      occurTime: rfc3339(line.timeMs),
      autoProperties: { ...pageOf(line, options), ...agent.properties },
      customProperties: answerOf(line),
    };
    return { kind: 'event', event, bot: agent.bot };
  };
}

const pageEnding = /\.(html?|xhtml|php\d?|aspx?|jspx?|cgi|cfm|md)$/i;
const anyEnding = /\.[a-z0-9~]{1,12}$/i;

/** Undefined for a page view: a GET that was answered with a page, from the server or from the visitor's own cache. */
export function skipReason(line: LogLine, nowMs: number): SkipReason | undefined {
  if (line.timeMs < minOccurTimeMs || line.timeMs > nowMs + maxOccurTimeAheadMs) return 'time';
  if (line.method !== 'GET') return 'method';
  // A redirect shows nothing: the page it leads to has a line of its own.
  if ((line.status < 200 || line.status > 299) && line.status !== 304) return 'status';
  const path = line.target.split('?', 1)[0] ?? '';
  if (anyEnding.test(path) && !pageEnding.test(path)) return 'asset';
  return undefined;
}

function pageOf(line: LogLine, { hostname, scheme }: MapperOptions): Properties {
  const host = line.hostname ?? hostname;
  const isPath = line.target.startsWith('/');
  const url =
    isPath || parseUrl(line.target) === undefined
      ? `${scheme}://${host}${line.target}`
      : line.target;
  const parsed = parseUrl(url);
  const referrer = line.referrer ?? '';
  return strings({
    $url: url,
    $hostname: parsed?.hostname ?? host,
    $pathname: isPath ? (line.target.split('?', 1)[0] ?? '') : (parsed?.pathname ?? ''),
    $referrer: referrer,
    $referrerDomain: parseUrl(referrer)?.hostname ?? '',
    $utmSource: parsed?.searchParams.get('utm_source') ?? '',
    $utmMedium: parsed?.searchParams.get('utm_medium') ?? '',
    $utmCampaign: parsed?.searchParams.get('utm_campaign') ?? '',
    $utmTerm: parsed?.searchParams.get('utm_term') ?? '',
    $utmContent: parsed?.searchParams.get('utm_content') ?? '',
  });
}

function answerOf(line: LogLine): Properties {
  const size = line.bytes === undefined ? {} : { bytes: int(line.bytes) };
  return { method: text(line.method), status: int(line.status), ...size };
}

function strings(values: Record<string, string>): Properties {
  const known = Object.entries(values).filter(([, value]) => value !== '');
  return Object.fromEntries(known.map(([key, value]) => [key, text(cut(value))]));
}

function cut(value: string): string {
  if (value.length <= maxStringValueCodePoints) return value;
  return [...value].slice(0, maxStringValueCodePoints).join('');
}

interface ReadAgent {
  bot: boolean;
  properties: Properties;
}

// Names of programs, and the form in which crawlers introduce themselves: "(compatible; Name/1.0; +http://…)".
const botPattern = new RegExp(
  [
    ...[String.raw`\(compatible; (?!MSIE|Konqueror)`, String.raw`\+https?:`, String.raw`bot\b`],
    ...['bot[/_-]', 'crawl', 'spider', 'slurp', 'archiver', 'feed', 'rss', 'monitor', 'fetch'],
    ...['scan', 'preview', 'curl', 'wget', 'python', 'java/', 'perl', 'ruby', 'go-http'],
    ...['http-?client', 'headless'],
  ].join('|'),
  'i',
);

// Few agents write most lines, and parsing an agent costs more than all other work on a line.
function createAgentReader(): (userAgent: string) => ReadAgent {
  const known = new Map<string, ReadAgent>();
  return (userAgent) => {
    const found = known.get(userAgent);
    if (found !== undefined) return found;
    if (known.size >= maxKnownAgents) known.clear();
    const read = readAgent(userAgent);
    known.set(userAgent, read);
    return read;
  };
}

function readAgent(userAgent: string): ReadAgent {
  const bot = userAgent === '' || botPattern.test(userAgent);
  const { browser, os, device } = new UAParser(userAgent).getResult();
  const named = strings({
    $browser: browser.name ?? '',
    $browserVersion: browser.version ?? '',
    $os: os.name ?? '',
    $osVersion: os.version ?? '',
    $device: device.model ?? device.type ?? '',
    $deviceType: device.type ?? '',
  });
  const mobile: Properties =
    device.type === undefined ? {} : { $mobile: bool(device.type === 'mobile') };
  return { bot, properties: { ...named, ...mobile, ...(bot ? { $bot: bool(true) } : {}) } };
}

interface Session {
  id: string;
  firstMs: number;
  lastMs: number;
}

// Logs are written when an answer ends, so lines are a little out of order: sessions reach 30 minutes both back and on.
function createSessions(
  newId: (start: string) => string,
): (visitor: string, timeMs: number) => string {
  const open = new Map<string, Session>();
  return (visitor, timeMs) => {
    const found = open.get(visitor);
    const joins =
      found !== undefined &&
      timeMs >= found.firstMs - sessionGapMs &&
      timeMs <= found.lastMs + sessionGapMs;
    const session = joins
      ? {
          ...found,
          firstMs: Math.min(found.firstMs, timeMs),
          lastMs: Math.max(found.lastMs, timeMs),
        }
      : { id: newId(`${visitor}\0${timeMs}`), firstMs: timeMs, lastMs: timeMs };
    // Moves the visitor to the end of the map's order: its first entry is then the visitor that has been quiet for
    // longest.
    open.delete(visitor);
    setBounded(open, visitor, session, maxOpenSessions);
    return session.id;
  };
}

/** Counts earlier copies of a line: two equal lines are two requests within one second. */
function createCopyCounter(): (raw: string) => number {
  const counts = new Map<string, number>();
  return (raw) => {
    const before = counts.get(raw) ?? 0;
    if (before > 0) counts.set(raw, before + 1);
    else setBounded(counts, raw, 1, maxCountedLines);
    return before;
  };
}

/** A UUID of version 8, which RFC 9562 leaves to custom hashes. */
function uuidOf(hash: Hmac): string {
  const bytes = hash.digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)];
  return `${parts.join('-')}-${hex.slice(20)}`;
}
