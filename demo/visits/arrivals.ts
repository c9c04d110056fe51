// The beginning of a visit: the referrer and the campaign parameters that a landing page sees.

import { createWeighted, type Random } from './random.ts';

interface Arrival {
  /** Absent where the visitor typed the address. */
  referrer?: string;
  /** Query parameters of the landing page, without '?'; '' for none. */
  query: string;
}

const campaigns = [
  'autumn_sale',
  'spring-launch',
  'brand_de',
  'retarget_cart',
  'bf2026',
  'loyalty',
];
const pickSearch = createWeighted([
  [60, 'https://www.google.com/'],
  [15, 'https://www.google.de/'],
  [10, 'https://www.bing.com/'],
  [8, 'https://duckduckgo.com/'],
  [4, 'https://search.yahoo.co.jp/'],
  [3, 'https://yandex.ru/'],
]);
const socials = [
  ...['https://www.facebook.com/', 'https://t.co/Zk3vQp', 'android-app://com.pinterest/'],
  ...['https://www.reddit.com/r/BuyItForLife/', 'https://www.instagram.com/'],
];
const videos = ['https://www.youtube.com/watch?v=dQw4w9', 'https://vimeo.com/channels/staffpicks'];
const sites = [
  ...['https://news.ycombinator.com/item?id=41999999', 'https://blog.example.org/best-kettles/'],
  ...['https://forum.example.net/t/packing-lists/8812?page=3', 'https://wiki.example.com/Tents'],
];
const assistants = [
  ...['https://chatgpt.com/', 'https://chatgpt.com/', 'https://www.perplexity.ai/'],
  ...['https://gemini.google.com/', 'https://claude.ai/', 'https://copilot.microsoft.com/'],
];
const terms = ['buy kettle', 'tent 2p', 'wózek'];

/** Networks that mark their links: by the parameter of a click's id, and by the source that the shop names. */
const searchAds: Ad[] = [
  { click: 'gclid', site: 'https://www.google.com/', source: 'google' },
  { click: 'gclid', site: 'https://www.google.com/', source: 'google' },
  { click: 'gbraid', site: 'https://www.google.com/', source: 'google' },
  { click: 'msclkid', site: 'https://www.bing.com/', source: 'bing' },
];
const socialAds: Ad[] = [
  { click: 'fbclid', site: 'https://l.facebook.com/', source: 'facebook' },
  { click: 'fbclid', site: 'https://l.instagram.com/', source: 'instagram' },
  { click: 'ttclid', site: 'https://www.tiktok.com/', source: 'tiktok' },
  { click: 'li_fat_id', site: 'https://www.linkedin.com/', source: 'linkedin' },
  { click: 'rdt_cid', site: 'https://www.reddit.com/', source: 'reddit' },
];

interface Ad {
  click: string;
  site: string;
  source: string;
}

type Source = (random: Random) => Arrival;

const pickSource = createWeighted<Source>([
  [25, () => ({ query: '' })],
  [27, (random) => ({ referrer: pickSearch(random), query: '' })],
  [10, paidSearch],
  [8, (random) => ({ referrer: random.pick(socials), query: '' })],
  [7, paidSocial],
  [7, newsletter],
  [6, askedAssistant],
  [3, (random) => ({ referrer: random.pick(videos), query: '' })],
  [5, (random) => ({ referrer: random.pick(sites), query: '' })],
  [2, (random) => ({ query: utm('partner-net', 'affiliate', random.pick(campaigns)) })],
]);

/** One arrival, drawn by weight. */
export function pickArrival(random: Random): Arrival {
  return pickSource(random)(random);
}

/** Some ads are only marked by the network, with the id of the click. */
function paidSearch(random: Random): Arrival {
  const { click, site, source } = random.pick(searchAds);
  const marked = `${click}=${clickId(random)}`;
  if (random.chance(0.3)) return { referrer: site, query: marked };
  const term = encodeURIComponent(random.pick(terms));
  const campaign = utm(source, 'cpc', random.pick(campaigns));
  return { referrer: site, query: `${campaign}&utm_term=${term}&${marked}` };
}

function paidSocial(random: Random): Arrival {
  const { click, site, source } = random.pick(socialAds);
  const campaign = utm(source, 'paid_social', random.pick(campaigns));
  const content = `utm_content=ad_${random.between(100, 180)}`;
  return { referrer: site, query: `${campaign}&${content}&${click}=${clickId(random)}` };
}

/** ChatGPT marks its links, others only refer. */
function askedAssistant(random: Random): Arrival {
  const referrer = random.pick(assistants);
  const marked = referrer === 'https://chatgpt.com/';
  return { referrer, query: marked ? 'utm_source=chatgpt.com' : '' };
}

function newsletter(random: Random): Arrival {
  return { query: utm('newsletter', 'email', `week-${random.between(1, 52)}`) };
}

function clickId(random: Random): string {
  return `${random.word().toString(36)}${random.word().toString(36)}`;
}

function utm(source: string, medium: string, campaign: string): string {
  return `utm_source=${source}&utm_medium=${medium}&utm_campaign=${campaign}`;
}
