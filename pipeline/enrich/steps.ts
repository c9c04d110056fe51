// THE list of enrichment: everything that is done to an event between the queue and its columns. It makes no rows and
// knows neither JSON nor Arrow.
//
// A step is a pure function of the request's facts and of the row. It asks no clock and no database: a batch that is
// built again must have the same bytes. Steps are independent: none reads or puts a property that another one puts. The
// two paths run them in different orders: the list has the steps of the request first, the fast path those of the row.
//
// The reference path runs every step on every row (`enrich`). The fast path (cached-steps.ts) runs a step once for all
// rows that the step cannot tell apart; `reads` says what tells them apart:
//
//   'request'  The step reads the facts, and asks which properties the row has. It puts texts into columns. It may also
//              put numbers and truth values where the row has none, if they depend on the facts alone; the scanner
//              takes eight of them from all steps together.
//   'row'      The step reads the texts in `textsRead`, and asks which properties the row has. It puts texts into
//              columns. Of the facts it may depend on the credential only.
//
// A step that needs both a text of the row and a fact is not possible: no such outcome is shared. Ingest can derive its
// value from the fact, or CachedSteps must learn a third kind of `reads`.
//
// To add a step:
//   1. Write its function below, or in a file of its own where it needs lists of constants or more than a page.
//   2. Add its line to `steps`.
//   3. A new fact goes into `RequestFacts`, into RequestContext (proto/wire/frame.ts), where ingest fills it, and into
//      the cache's key in `CachedSteps.begin`: without it, the fast path mixes up requests.
//   4. A new text to read goes into `textsRead`. The scanner takes at most six (`maxTextsRead` in column-layout.ts).
//   5. A property that senders must not set goes into `serverOnly` or `derivedOnly`. A property without a column needs
//      a slot in event-row.ts and in column-layout.ts (`propertySlots`).
//   6. Test it in steps.test.ts, and give build/rows/scanned-rows.test.ts, which compares both paths, an event for it.

import type { Location, RequestContext } from '../../proto/wire/frame.ts';
import { type PageUrl, queryValue, splitUrl } from '../../proto/wire/page-url.ts';
import { derivedOnlyProperties, serverOnlyProperties } from '../../proto/wire/server-properties.ts';
import { aiAssistantOfVisit, channelOf } from './attribution.ts';
import { type EventRow, slotOf, variantIndex } from './event-row.ts';
import { siteOfApp } from './traffic-sources.ts';
import type { Agent } from './user-agent.ts';

/** All that a step may know of a request. */
export interface RequestFacts {
  readonly credential: RequestContext['credential'];
  readonly userAgent?: string | undefined;
  readonly location?: Location | undefined;
  readonly botScore?: number | undefined;
  readonly verifiedBot?: boolean | undefined;
}

/** Rows of one request, the first `count` in use. */
interface RowsToEnrich {
  readonly facts: RequestFacts;
  readonly rows: readonly EventRow[];
  readonly count: number;
}

type Step = (request: RowsToEnrich, parseAgent: (userAgent: string) => Agent) => void;

/** In order. `key` names the API keys with which a step runs: a private key gets the server's own signals only. */
const steps: readonly { step: Step; reads: 'request' | 'row'; key: 'every' | 'public' }[] = [
  { step: putBotSignals, reads: 'request', key: 'every' },
  { step: putLocation, reads: 'request', key: 'public' },
  { step: putUserAgent, reads: 'request', key: 'public' },
  { step: putBot, reads: 'request', key: 'public' },
  { step: putAttribution, reads: 'row', key: 'public' },
];

/** Removes the properties that the sender may not set, then applies every step that the request's key asks for. */
export function enrich(request: RowsToEnrich, parseAgent: (userAgent: string) => Agent): void {
  strip(request);
  putFromRequest(request, parseAgent);
  putFromRow(request, parseAgent);
}

/** Applies the steps that read the request. */
export function putFromRequest(
  request: RowsToEnrich,
  parseAgent: (userAgent: string) => Agent,
): void {
  for (const step of stepsOf.request[request.facts.credential]) step(request, parseAgent);
}

/** Applies the steps that read the row's own texts. */
export function putFromRow(request: RowsToEnrich, parseAgent: (userAgent: string) => Agent): void {
  for (const step of stepsOf.row[request.facts.credential]) step(request, parseAgent);
}

const stepsOf = { request: byKey('request'), row: byKey('row') };

function byKey(reads: 'request' | 'row') {
  const own = steps.filter((step) => step.reads === reads);
  return {
    private: own.filter(({ key }) => key === 'every').map(({ step }) => step),
    public: own.map(({ step }) => step),
  };
}

const serverOnly = serverOnlyProperties.map(slotOf);
const derivedOnly = derivedOnlyProperties.map(slotOf);
const stripped = { private: serverOnly, public: [...serverOnly, ...derivedOnly] };

/** By key, the bits of the slots whose properties are removed if they were sent. */
export const strippedBits = { private: bitsOf(stripped.private), public: bitsOf(stripped.public) };

function strip({ facts, rows, count }: RowsToEnrich): void {
  const slots = stripped[facts.credential];
  const bits = strippedBits[facts.credential];
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if ((row.present & bits) === 0) continue;
    for (const slot of slots) row.remove(slot);
  }
}

const botScore = slotOf('$bot_score');
const verifiedBot = slotOf('$verified_bot');

function putBotSignals({ facts, rows, count }: RowsToEnrich): void {
  if (facts.botScore === undefined && facts.verifiedBot === undefined) return;
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if (facts.botScore !== undefined) {
      row.putValue(botScore, variantIndex.intValue, facts.botScore);
    }
    if (facts.verifiedBot !== undefined) {
      row.putValue(verifiedBot, variantIndex.boolValue, facts.verifiedBot);
    }
  }
}

const bot = slotOf('$bot');
/** Scores are Cloudflare's: from 1, surely a program, to 99; below 30 a program is likely, and 0 means not judged. */
const leastHumanScore = 30;

function putBot(
  { facts, rows, count }: RowsToEnrich,
  parseAgent: (userAgent: string) => Agent,
): void {
  const score = facts.botScore ?? 0;
  const isBot =
    facts.verifiedBot === true ||
    (score > 0 && score < leastHumanScore) ||
    (facts.userAgent !== undefined && parseAgent(facts.userAgent).crawler);
  if (!isBot) return;
  for (let index = 0; index < count; index++) {
    rows[index]?.putValue(bot, variantIndex.boolValue, true);
  }
}

const country = slotOf('$country');
const region = slotOf('$region');
const city = slotOf('$city');
const continent = slotOf('$continent');
const latitude = slotOf('$latitude');
const longitude = slotOf('$longitude');
const timezone = slotOf('$timezone');

function putLocation({ facts, rows, count }: RowsToEnrich): void {
  const location = facts.location;
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
  { facts, rows, count }: RowsToEnrich,
  parseAgent: (userAgent: string) => Agent,
): void {
  if (facts.userAgent === undefined) return;
  const agent = parseAgent(facts.userAgent);
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
const aiAssistant = slotOf('$aiAssistant');
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
/** An event without any of these texts does not tell where its visitor came from. */
const attributionTexts = [url, referrer, utmSource, utmMedium, utmCampaign] as const;
/** The only texts of a sender that a step may read: those of all steps together. */
export const textsRead = attributionTexts;
/** Android's browsers name the app from which a page was opened: android-app://com.pinterest/ */
const appUrl = /^android-app:/i;
const noPage: PageUrl = { hostname: '', pathname: '', query: '' };

function putAttribution({ rows, count }: RowsToEnrich): void {
  for (let index = 0; index < count; index++) {
    const row = rows[index];
    if (row === undefined) return;
    if (attributionTexts.every((slot) => row.texts[slot] === '')) continue;
    const pageUrl = row.texts[url] ?? '';
    const page = pageUrl === '' ? noPage : splitUrl(pageUrl);
    putPage(row, page);
    const referrerUrl = row.texts[referrer] ?? '';
    const from = referrerUrl === '' ? '' : splitUrl(referrerUrl).hostname;
    row.putText(referrerDomain, from);
    const visit = {
      hostname: page.hostname,
      query: page.query,
      referrerSite: appUrl.test(referrerUrl) ? siteOfApp(from) : from,
      utmSource: nameIn(row, utmSource),
      utmMedium: nameIn(row, utmMedium),
      utmCampaign: nameIn(row, utmCampaign),
    };
    row.putText(channel, channelOf(visit));
    row.putText(aiAssistant, aiAssistantOfVisit(visit));
  }
}

function putPage(row: EventRow, page: PageUrl): void {
  putAbsent(row, hostname, page.hostname);
  putAbsent(row, pathname, page.pathname);
  // A name may be encoded: utm%5Fsource.
  if (!page.query.includes('utm_') && !page.query.includes('%')) return;
  for (const { slot, parameter } of utmParameters) {
    if (!row.has(slot)) row.putText(slot, queryValue(page.query, parameter));
  }
}

/** A sender's own may have any case and spaces around it. */
function nameIn(row: EventRow, slot: number): string {
  return (row.texts[slot] ?? '').trim().toLowerCase();
}

function putAbsent(row: EventRow, slot: number, text: string): void {
  if (!row.has(slot)) row.putText(slot, text);
}

/** A name and its version come from one source: no version is put beside a name that the sender gave. */
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
