// Turns lines of an access log into page_view events as a page would send them, described by the pipeline's own steps
// of enrichment. The address never leaves this file: visitors and events are named by keyed hashes, so that
// the same file gives the same ids again and nobody without the secret can try out addresses.

import { createHmac, type Hmac } from 'node:crypto';
import { type Event, int, type Properties, rfc3339, text } from '../../demo/visits/event.ts';
import type { LocateAddress } from '../../ingest/caller/geo.ts';
import { createDescribeEvent } from '../../pipeline/enrich/described-event.ts';
import {
  maxOccurTimeAheadMs,
  maxUserAgentCharacters,
  minOccurTimeMs,
} from '../../platform/limits.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import type { LogLine } from './log-line.ts';
import { createSentUrl } from './sent-url.ts';

/** Why a line is no page view. */
export const skipReasons = ['method', 'status', 'asset', 'time'] as const;
export type SkipReason = (typeof skipReasons)[number];

/** Its session is known once all lines around it are. */
export type PageView = Omit<Event, 'sessionId'>;

export type Mapped =
  | { kind: 'event'; event: PageView; bot: boolean }
  | { kind: 'skipped'; why: SkipReason };

export interface MapperOptions {
  /** Secret because its holder can find the address behind a visitor id by trying all addresses. */
  secret: string;
  /** The site's host, for lines that name none. */
  hostname: string;
  /** The site's, whatever its lines say: a server behind a proxy does not know it. Else the line's, or https. */
  scheme?: string | undefined;
  /** Also sends requests that are no page views, as events of the kind `request`. */
  all: boolean;
  /** Parameters that stay in addresses besides those of campaigns and clicks, as the script's `data-query` has them. */
  query?: string | undefined;
  /** Tells the places of visitors; absent where nobody does. */
  locate?: LocateAddress | undefined;
  /** The time now: lines of more than 48 h after it are skipped, as no instance takes them. */
  nowMs: number;
}

const maxCountedLines = 100_000;
const maxKnownAgents = 20_000;

/** Returns a function from line to event; `raw` is the line's text in the log. */
export function createMapper(options: MapperOptions): (line: LogLine, raw: string) => Mapped {
  const hash = (purpose: string): Hmac =>
    createHmac('sha256', options.secret).update(`${purpose}\0`);
  const copies = createCopyCounter();
  const describe = createDescribeEvent(maxKnownAgents);
  const sentUrl = createSentUrl(options.query ?? '');
  return (line, raw) => {
    const why = skipReason(line, options.nowMs);
    if (why === 'time' || (why !== undefined && !options.all)) return { kind: 'skipped', why };
    const visitor = hash('visitor')
      .update(`${line.address}\0${line.userAgent ?? ''}`)
      .digest();
    const distinctId = `anon-${visitor.subarray(0, 16).toString('base64url')}`;
    const userAgent = line.userAgent?.slice(0, maxUserAgentCharacters);
    const location = options.locate?.(line.address);
    const sent = { $url: sentUrl(urlOf(line, options)), $referrer: sentUrl(line.referrer ?? '') };
    const autoProperties = describe(sent, { userAgent, location });
    const event: PageView = {
      eventId: uuidOf(hash('event').update(`${copies(raw)}\0${raw}`)),
      kind: why === undefined ? 'page_view' : 'request',
      distinctId,
      occurTime: rfc3339(line.timeMs),
      autoProperties,
      customProperties: answerOf(line),
    };
    return { kind: 'event', event, bot: '$bot' in autoProperties };
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

function urlOf(line: LogLine, { scheme, hostname }: MapperOptions): string {
  if (!line.target.startsWith('/')) return line.target;
  return `${scheme ?? line.scheme ?? 'https'}://${line.hostname ?? hostname}${line.target}`;
}

function answerOf(line: LogLine): Properties {
  const size = line.bytes === undefined ? {} : { bytes: int(line.bytes) };
  return { method: text(line.method), status: int(line.status), ...size };
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
