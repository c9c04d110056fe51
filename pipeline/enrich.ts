// THE list of what is done to an event between the queue and its columns. A step is a function of the request's context
// and its events alone: it asks no clock and nobody else, so that a batch built again is the same batch.

import { channelOf } from './attribution.ts';
import type { RequestRows } from './decode.ts';
import { type EventRow, slotOf, variantIndex } from './event-row.ts';
import { type PageUrl, queryValue, splitUrl } from './page-url.ts';
import type { Agent } from './user-agent.ts';

type Step = (request: RequestRows, parseAgent: (userAgent: string) => Agent) => void;

/** In order, for every key: with a private key nothing is derived, the server's own properties are only its own. */
const everyKeySteps: readonly Step[] = [stripServerOnly, putBotSignals];

/** In order, after those, for a public key. */
const publicKeySteps: readonly Step[] = [
  stripDerivedOnly,
  putLocation,
  putUserAgent,
  putAttribution,
];

/** Applies every step that the request's key asks for to all of its events. */
export function enrich(request: RequestRows, parseAgent: (userAgent: string) => Agent): void {
  for (const step of everyKeySteps) step(request, parseAgent);
  if (request.context.credential === 'private') return;
  for (const step of publicKeySteps) step(request, parseAgent);
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
const serverOnlyBits = bitsOf(serverOnly);
const derivedOnlyBits = bitsOf(derivedOnly);

function stripServerOnly({ rows, count }: RequestRows): void {
  strip(rows, count, serverOnly, serverOnlyBits);
}

function stripDerivedOnly({ rows, count }: RequestRows): void {
  strip(rows, count, derivedOnly, derivedOnlyBits);
}

const botScore = slotOf('$bot_score');
const verifiedBot = slotOf('$verified_bot');

function putBotSignals({ context, rows, count }: RequestRows): void {
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

function putLocation({ context, rows, count }: RequestRows): void {
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
  { context, rows, count }: RequestRows,
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
/** Without any of these an event does not tell where its visitor came from, not even that they came directly. */
const visitSlots = [url, referrer, utmSource, utmMedium, utmCampaign];
const noPage: PageUrl = { hostname: '', pathname: '', query: '' };

function putAttribution({ rows, count }: RequestRows): void {
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if (visitSlots.every((slot) => row.texts[slot] === '')) continue;
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

function strip(
  rows: readonly EventRow[],
  count: number,
  slots: readonly number[],
  bits: number,
): void {
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if ((row.present & bits) === 0) continue;
    for (const slot of slots) row.remove(slot);
  }
}

function bitsOf(slots: readonly number[]): number {
  let bits = 0;
  for (const slot of slots) bits |= 1 << slot;
  return bits;
}
