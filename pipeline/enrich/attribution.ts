// The channel, one of thirteen, that brought a visitor to the page of one event. The rules and their order are those of
// Google Analytics 4's default channel group, as far as a single event decides them; no earlier event is looked at.

import { type ClickId, clickIds } from '../../proto/wire/click-ids.ts';
import { queryValue } from '../../proto/wire/page-url.ts';
import { aiAssistantOf } from './ai-assistants.ts';
import { type SourceKind, sourceKind } from './traffic-sources.ts';

export type Channel =
  | 'paid search'
  | 'paid social'
  | 'paid video'
  | 'paid other'
  | 'display'
  | 'organic search'
  | 'organic social'
  | 'organic video'
  | 'email'
  | 'affiliate'
  | 'referral'
  | 'unassigned'
  | 'direct';

/** The parts of an event that tell where its visitor came from; '' where it does not tell. */
export interface Visit {
  readonly hostname: string;
  /** The query of the page's address: advertisers' click ids are in it. */
  readonly query: string;
  /** The host of the referring page, or of the site of the referring app. */
  readonly referrerSite: string;
  /** In lower case, as the medium. */
  readonly utmSource: string;
  readonly utmMedium: string;
  readonly utmCampaign: string;
}

const clickIdChannels: Readonly<Record<ClickId, Channel>> = {
  gclid: 'paid search',
  gbraid: 'paid search',
  wbraid: 'paid search',
  msclkid: 'paid search',
  yclid: 'paid search',
  dclid: 'display',
  ttclid: 'paid social',
  twclid: 'paid social',
  li_fat_id: 'paid social',
  rdt_cid: 'paid social',
  ScCid: 'paid social',
};

const paidMedium = /^(.*cp.*|ppc|retargeting|paid.*)$/;
const displayMedia = new Set(['display', 'banner', 'expandable', 'interstitial', 'cpm']);
const socialMedia = new Set([
  'social',
  'social-network',
  'social-media',
  'social_network',
  'social_media',
  'sm',
  'social network',
  'social media',
]);
const referralMedia = new Set(['referral', 'app', 'link']);
const emailNames = new Set(['email', 'e-mail', 'e_mail', 'e mail']);
const affiliateMedia = new Set(['affiliate', 'affiliates']);

const paidChannel: Readonly<Record<SourceKind, Channel>> = {
  search: 'paid search',
  social: 'paid social',
  video: 'paid video',
};
const organicChannel: Readonly<Record<SourceKind, Channel>> = {
  search: 'organic search',
  social: 'organic social',
  video: 'organic video',
};

/** A source that names itself by its host is no campaign of the site's own: chatgpt.com marks its links so. */
const hostName = /^(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]+$/;

/** The channel of a visit. A page reached from its own site counts as direct: nothing else brought the visitor here. */
export function channelOf(visit: Visit): Channel {
  if (visit.utmSource !== '' || visit.utmMedium !== '') return channelOfCampaign(visit);
  const paid = channelOfClickId(visit.query);
  if (paid !== undefined) return paid;
  // A campaign without source and medium is marked traffic that the rules have no name for.
  if (visit.utmCampaign !== '') return 'unassigned';
  if (visit.referrerSite === '' || isSameSite(visit.referrerSite, visit.hostname)) {
    return 'direct';
  }
  const kind = sourceKind(visit.referrerSite);
  return kind === undefined ? 'referral' : organicChannel[kind];
}

function channelOfCampaign(visit: Visit): Channel {
  const source = visit.utmSource === '' ? visit.referrerSite : visit.utmSource;
  const medium = visit.utmMedium;
  // An advertiser marks the click by itself; whoever writes the address often names the source alone.
  const paid = medium === '' ? channelOfClickId(visit.query) : undefined;
  if (paid !== undefined) return paid;
  const kind = sourceKind(source);
  if (paidMedium.test(medium)) {
    if (kind !== undefined) return paidChannel[kind];
    return displayMedia.has(medium) ? 'display' : 'paid other';
  }
  if (displayMedia.has(medium)) return 'display';
  if (kind === 'social' || socialMedia.has(medium)) return 'organic social';
  if (kind === 'video' || medium.includes('video')) return 'organic video';
  if (kind === 'search' || medium === 'organic') return 'organic search';
  if (referralMedia.has(medium)) return 'referral';
  if (emailNames.has(source) || emailNames.has(medium)) return 'email';
  if (affiliateMedia.has(medium)) return 'affiliate';
  // Without a medium, a source counts as the same site does as a referrer.
  const isSite = hostName.test(source) || aiAssistantOf(source) !== '';
  return medium === '' && isSite ? 'referral' : 'unassigned';
}

/** The AI assistant that sent the visitor, by the campaign's source or by the referrer; '' where none did. */
export function aiAssistantOfVisit({ utmSource, referrerSite }: Visit): string {
  return aiAssistantOf(utmSource) || aiAssistantOf(referrerSite);
}

function channelOfClickId(query: string): Channel | undefined {
  if (query === '') return undefined;
  for (const name of clickIds) {
    if (queryValue(query, name) !== '') return clickIdChannels[name];
  }
  return undefined;
}

function isSameSite(a: string, b: string): boolean {
  return withoutWww(a) === withoutWww(b);
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}
