// The events of a shop's visits: who comes when, by which source, and what they do, with all kinds of properties. A
// batch of events is made from its number alone, so that several processes can make a shop.

import { EventRow, slotOf } from '../../../pipeline/enrich/event-row.ts';
import { dayMs } from '../../../platform/clock.ts';
import { addCustomProperties, kinds } from './properties.ts';
import { hash32, Random, Weighted } from './random.ts';
import { batchesOf, type Person, personOf, type Shop, startMsOf, zipfProfile } from './shop.ts';

const cookielessShare = 0.04;
const bounceShare = 0.35;
/** Of the visits, so that every profile comes at least once. */
const visitsAFirst = 4;
const meanGapMs = 35_000;
const pages = 400;

const slots = {
  browser: slotOf('$browser'),
  browserVersion: slotOf('$browserVersion'),
  os: slotOf('$os'),
  deviceType: slotOf('$deviceType'),
  country: slotOf('$country'),
  region: slotOf('$region'),
  city: slotOf('$city'),
  continent: slotOf('$continent'),
  timezone: slotOf('$timezone'),
  hostname: slotOf('$hostname'),
  pathname: slotOf('$pathname'),
  url: slotOf('$url'),
  referrer: slotOf('$referrer'),
  referrerDomain: slotOf('$referrerDomain'),
  channel: slotOf('$channel'),
  utmSource: slotOf('$utmSource'),
  utmMedium: slotOf('$utmMedium'),
  utmCampaign: slotOf('$utmCampaign'),
} as const;

/** Where a visit comes from. */
interface Source {
  channel: string;
  domain: string;
  campaign: string;
}

const sources = new Weighted<Source>([
  [{ channel: 'Direct', domain: '', campaign: '' }, 40],
  [{ channel: 'Organic Search', domain: 'www.google.com', campaign: '' }, 28],
  [{ channel: 'Organic Search', domain: 'duckduckgo.com', campaign: '' }, 4],
  [{ channel: 'Organic Social', domain: 'www.reddit.com', campaign: '' }, 8],
  [{ channel: 'Referral', domain: 'news.ycombinator.com', campaign: '' }, 6],
  [{ channel: 'Paid Search', domain: 'www.google.com', campaign: 'brand' }, 8],
  [{ channel: 'Paid Social', domain: 'www.facebook.com', campaign: 'spring' }, 4],
  [{ channel: 'Email', domain: '', campaign: 'newsletter' }, 2],
]);

/** Calls `store` with each event of a batch and the moment it was received. The row is reused. */
export function makeBatch(
  shop: Shop,
  batch: number,
  store: (row: EventRow, receiveTimeMs: number) => void,
): void {
  const random = new Random(hash32(batch, shop.seed));
  const batches = batchesOf(shop);
  const spanMs = shop.days * dayMs;
  const fromMs = startMsOf(shop) + (batch * spanMs) / batches;
  const count = Math.min(shop.batchEvents, shop.events - batch * shop.batchEvents);
  const firsts = firstProfiles(shop, batch);
  const row = new EventRow();
  let left = count;
  for (let visit = 0; left > 0; visit++) {
    // Visits follow one another through the batch's stretch of time; the last ones end a little after it.
    const startMs = Math.floor(fromMs + ((count - left) / count) * (spanMs / batches));
    const first = visit % visitsAFirst === 0 ? firsts.next().value : undefined;
    const number = first ?? zipfProfile(shop, random.unit());
    const person = personOf(shop, number);
    left -= makeVisit(random, person, { startMs, endMs: shop.endMs, most: left }, row, store);
  }
}

/** The profiles whose first visit is in this batch. */
function* firstProfiles(shop: Shop, batch: number): Generator<number, undefined> {
  const batches = batchesOf(shop);
  const end = Math.floor(((batch + 1) * shop.profiles) / batches);
  for (let n = Math.floor((batch * shop.profiles) / batches); n < end; n++) yield n;
}

/** Makes a visit of at most `most` events, all before `endMs`; returns how many. */
function makeVisit(
  random: Random,
  person: Person,
  { startMs, endMs, most }: { startMs: number; endMs: number; most: number },
  row: EventRow,
  store: (row: EventRow, receiveTimeMs: number) => void,
): number {
  const events = Math.min(most, random.chance(bounceShare) ? 1 : 2 + exponential(random, 5));
  const source = sources.at(random.unit());
  row.cookieless = random.chance(cookielessShare);
  row.sessionDerived = row.cookieless;
  row.distinctId = visitorId(person, row.cookieless, startMs);
  fillId(row.sessionId, random);
  let page = pageOf(random);
  let occurTimeMs = startMs;
  for (let event = 0; event < events; event++) {
    row.reset();
    fillId(row.eventId, random);
    row.kind = event === 0 && random.chance(0.92) ? 'page_view' : kinds.at(random.unit());
    if (row.kind === 'page_view' && event > 0) page = pageOf(random);
    row.occurTimeMs = Math.min(occurTimeMs, endMs - 1);
    putAutoProperties(row, person, source, page);
    addCustomProperties(row, random, person.number);
    const isLate = random.chance(0.01);
    store(row, row.occurTimeMs + random.below(isLate ? 6 * 3_600_000 : 2_000));
    occurTimeMs += 1 + exponential(random, meanGapMs);
  }
  return events;
}

function visitorId(person: Person, cookieless: boolean, startMs: number): string {
  if (cookieless) {
    const day = Math.floor(startMs / dayMs);
    return `cookieless-${hash32(person.number, day).toString(36)}${hash32(day, person.number).toString(36)}`;
  }
  const { anonymousId, distinctId, mergedMs } = person;
  return anonymousId !== undefined && startMs < mergedMs ? anonymousId : distinctId;
}

function putAutoProperties(row: EventRow, person: Person, source: Source, page: number): void {
  const { place } = person;
  row.putText(slots.browser, person.browser);
  row.putText(slots.browserVersion, person.browserVersion);
  row.putText(slots.os, person.os);
  row.putText(slots.deviceType, person.deviceType);
  row.putText(slots.country, place.country);
  row.putText(slots.region, place.region);
  row.putText(slots.city, place.city);
  row.putText(slots.continent, place.continent);
  row.putText(slots.timezone, place.timezone);
  row.putText(slots.hostname, 'shop.example.com');
  const pathname = page === 0 ? '/' : `/products/${page % 12}/${page}`;
  row.putText(slots.pathname, pathname);
  row.putText(slots.url, `https://shop.example.com${pathname}`);
  if (source.domain !== '') {
    row.putText(slots.referrer, `https://${source.domain}/`);
    row.putText(slots.referrerDomain, source.domain);
  }
  row.putText(slots.channel, source.channel);
  if (source.campaign !== '') {
    row.putText(slots.utmSource, source.domain === '' ? 'list' : source.domain);
    row.putText(slots.utmMedium, source.channel);
    row.putText(slots.utmCampaign, source.campaign);
  }
}

/** Few pages have most of the views. */
function pageOf(random: Random): number {
  return Math.floor(pages ** random.unit() - 1);
}

function exponential(random: Random, mean: number): number {
  return Math.floor(-mean * Math.log(1 - random.unit()));
}

function fillId(words: Uint32Array, random: Random): void {
  for (let index = 0; index < 4; index++) words[index] = random.word();
}
