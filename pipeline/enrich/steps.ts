// THE list of what is done to an event between the queue and its columns. A step is a function of the request's sender
// and of the event alone: it asks no clock and nobody else, so that a batch built again is the same batch.

import type { Location, RequestContext } from '../../proto/wire/frame.ts';
import { channelOf } from './attribution.ts';
import { type EventRow, slotOf, variantIndex } from './event-row.ts';
import { type PageUrl, queryValue, splitUrl } from './page-url.ts';
import type { Agent } from './user-agent.ts';

/** All that a step may know of a request. */
export interface RequestFacts {
  readonly credential: RequestContext['credential'];
  readonly userAgent?: string | undefined;
  readonly location?: Location | undefined;
  readonly botScore?: number | undefined;
  readonly verifiedBot?: boolean | undefined;
}

/** The rows of one request, `count` of them in use. */
export interface RowsToEnrich {
  readonly context: RequestFacts;
  readonly rows: readonly EventRow[];
  readonly count: number;
}

type Step = (request: RowsToEnrich, parseAgent: (userAgent: string) => Agent) => void;

/**
 * In order, after what is not the sender's was taken away. With a private key nothing is derived. What a step reads
 * lets scanned rows share its outcome: of the sender, and which properties a row has; or of the row, and nothing of
 * the sender, the texts in `textsRead` too.
 */
const steps: readonly { step: Step; reads: 'request' | 'row'; key: 'every' | 'public' }[] = [
  { step: putBotSignals, reads: 'request', key: 'every' },
  { step: putLocation, reads: 'request', key: 'public' },
  { step: putUserAgent, reads: 'request', key: 'public' },
  { step: putAttribution, reads: 'row', key: 'public' },
];

/** Takes away what is not the sender's and applies every step that the request's key asks for. */
export function enrich(request: RowsToEnrich, parseAgent: (userAgent: string) => Agent): void {
  strip(request);
  putFromRequest(request, parseAgent);
  putFromRow(request, parseAgent);
}

/** Applies the steps that read the sender. */
export function putFromRequest(
  request: RowsToEnrich,
  parseAgent: (userAgent: string) => Agent,
): void {
  for (const step of stepsOf.request[request.context.credential]) step(request, parseAgent);
}

/** Applies the steps that read the row's own texts. */
export function putFromRow(request: RowsToEnrich, parseAgent: (userAgent: string) => Agent): void {
  for (const step of stepsOf.row[request.context.credential]) step(request, parseAgent);
}

const stepsOf = { request: byKey('request'), row: byKey('row') };

function byKey(reads: 'request' | 'row') {
  const own = steps.filter((step) => step.reads === reads);
  return {
    private: own.filter(({ key }) => key === 'every').map(({ step }) => step),
    public: own.map(({ step }) => step),
  };
}

const serverOnly = [slotOf('$ip'), slotOf('$bot_score'), slotOf('$verified_bot')];
const derivedOnly = [
  slotOf('$country'),
  slotOf('$region'),
  slotOf('$city'),
  slotOf('$continent'),
  slotOf('$latitude'),
  slotOf('$longitude'),
  slotOf('$referrerDomain'),
  slotOf('$channel'),
];
/** What is never the sender's, by key: with a private one only the server's own properties are only its own. */
const stripped = { private: serverOnly, public: [...serverOnly, ...derivedOnly] };

/** Bits of the slots whose properties are taken away from what was sent with such a key. */
export const strippedBits = { private: bitsOf(stripped.private), public: bitsOf(stripped.public) };

function strip({ context, rows, count }: RowsToEnrich): void {
  const slots = stripped[context.credential];
  const bits = strippedBits[context.credential];
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if ((row.present & bits) === 0) continue;
    for (const slot of slots) row.remove(slot);
  }
}

const botScore = slotOf('$bot_score');
const verifiedBot = slotOf('$verified_bot');

function putBotSignals({ context, rows, count }: RowsToEnrich): void {
  if (context.botScore === undefined && context.verifiedBot === undefined) return;
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if (context.botScore !== undefined) {
      row.putValue(botScore, variantIndex.intValue, context.botScore);
    }
    if (context.verifiedBot !== undefined) {
      row.putValue(verifiedBot, variantIndex.boolValue, context.verifiedBot);
    }
  }
}

const country = slotOf('$country');
const region = slotOf('$region');
const city = slotOf('$city');
const continent = slotOf('$continent');
const latitude = slotOf('$latitude');
const longitude = slotOf('$longitude');
const timezone = slotOf('$timezone');

function putLocation({ context, rows, count }: RowsToEnrich): void {
  const location = context.location;
  if (location === undefined) return;
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    row.putText(country, location.country ?? '');
    row.putText(region, location.region ?? '');
    row.putText(city, location.city ?? '');
    row.putText(continent, location.continent ?? '');
    if (location.latitude !== undefined) {
      row.putValue(latitude, variantIndex.doubleValue, location.latitude);
    }
    if (location.longitude !== undefined) {
      row.putValue(longitude, variantIndex.doubleValue, location.longitude);
    }
    putAbsent(row, timezone, location.timezone ?? '');
  }
}

const browser = slotOf('$browser');
const browserVersion = slotOf('$browserVersion');
const os = slotOf('$os');
const osVersion = slotOf('$osVersion');
const device = slotOf('$device');
const deviceType = slotOf('$deviceType');
const mobile = slotOf('$mobile');

function putUserAgent(
  { context, rows, count }: RowsToEnrich,
  parseAgent: (userAgent: string) => Agent,
): void {
  if (context.userAgent === undefined) return;
  const agent = parseAgent(context.userAgent);
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    putPair(row, browser, agent.browser, browserVersion, agent.browserVersion);
    putPair(row, os, agent.os, osVersion, agent.osVersion);
    putAbsent(row, device, agent.device);
    putAbsent(row, deviceType, agent.deviceType);
    if (agent.mobile !== undefined && !row.has(mobile)) {
      row.putValue(mobile, variantIndex.boolValue, agent.mobile);
    }
  }
}

const url = slotOf('$url');
const referrer = slotOf('$referrer');
const hostname = slotOf('$hostname');
const pathname = slotOf('$pathname');
const referrerDomain = slotOf('$referrerDomain');
const channel = slotOf('$channel');
const utmSource = slotOf('$utmSource');
const utmMedium = slotOf('$utmMedium');
const utmCampaign = slotOf('$utmCampaign');
const utmParameters = [
  { slot: utmSource, parameter: 'utm_source' },
  { slot: utmMedium, parameter: 'utm_medium' },
  { slot: utmCampaign, parameter: 'utm_campaign' },
  { slot: slotOf('$utmTerm'), parameter: 'utm_term' },
  { slot: slotOf('$utmContent'), parameter: 'utm_content' },
];
/** The only texts that a step reads. Without any of them an event does not tell where its visitor came from. */
export const textsRead = [url, referrer, utmSource, utmMedium, utmCampaign] as const;
const noPage: PageUrl = { hostname: '', pathname: '', query: '' };

function putAttribution({ rows, count }: RowsToEnrich): void {
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if (textsRead.every((slot) => row.texts[slot] === '')) continue;
    const pageUrl = row.texts[url] ?? '';
    const page = pageUrl === '' ? noPage : splitUrl(pageUrl);
    putPage(row, page);
    const referrerUrl = row.texts[referrer] ?? '';
    if (referrerUrl !== '') row.putText(referrerDomain, splitUrl(referrerUrl).hostname);
    const visit = {
      hostname: page.hostname,
      query: page.query,
      referrerDomain: row.texts[referrerDomain] ?? '',
      utmSource: row.texts[utmSource] ?? '',
      utmMedium: row.texts[utmMedium] ?? '',
      utmCampaign: row.texts[utmCampaign] ?? '',
    };
    row.putText(channel, channelOf(visit));
  }
}

function putPage(row: EventRow, page: PageUrl): void {
  putAbsent(row, hostname, page.hostname);
  putAbsent(row, pathname, page.pathname);
  if (!page.query.includes('utm_')) return;
  for (const { slot, parameter } of utmParameters) {
    if (!row.has(slot)) row.putText(slot, queryValue(page.query, parameter));
  }
}

function putAbsent(row: EventRow, slot: number, text: string): void {
  if (!row.has(slot)) row.putText(slot, text);
}

/** A name and its version come from one source: a version is never put beside a name that was sent. */
function putPair(
  row: EventRow,
  nameSlot: number,
  name: string,
  versionSlot: number,
  version: string,
): void {
  if (row.has(nameSlot)) return;
  row.putText(nameSlot, name);
  putAbsent(row, versionSlot, version);
}

function bitsOf(slots: readonly number[]): number {
  let bits = 0;
  for (const slot of slots) bits |= 1 << slot;
  return bits;
}
