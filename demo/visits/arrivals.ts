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
const searches = ['https://www.google.com/', 'https://www.google.de/', 'https://www.bing.com/'];
const otherSearches = [
  'https://duckduckgo.com/',
  'https://search.yahoo.co.jp/',
  'https://yandex.ru/',
];
const socials = [
  'https://www.facebook.com/',
  'https://t.co/Zk3vQp',
  'https://www.reddit.com/r/BuyItForLife/',
];
const videos = ['https://www.youtube.com/watch?v=dQw4w9', 'https://vimeo.com/channels/staffpicks'];
const sites = [
  ...['https://news.ycombinator.com/item?id=41999999', 'https://blog.example.org/best-kettles/'],
  ...['https://forum.example.net/t/packing-lists/8812?page=3', 'https://wiki.example.com/Tents'],
];

type Source = (random: Random) => Arrival;

const pickSource = createWeighted<Source>([
  [30, () => ({ query: '' })],
  [24, (random) => ({ referrer: random.pick(searches), query: '' })],
  [5, (random) => ({ referrer: random.pick(otherSearches), query: '' })],
  [10, paidSearch],
  [8, (random) => ({ referrer: random.pick(socials), query: '' })],
  [6, paidSocial],
  [7, newsletter],
  [3, (random) => ({ referrer: random.pick(videos), query: '' })],
  [5, (random) => ({ referrer: random.pick(sites), query: '' })],
  [2, (random) => ({ query: utm('partner-net', 'affiliate', random.pick(campaigns)) })],
]);

/** One arrival, drawn by weight. */
export function pickArrival(random: Random): Arrival {
  return pickSource(random)(random);
}

function paidSearch(random: Random): Arrival {
  const term = `&utm_term=${encodeURIComponent(random.pick(['buy kettle', 'tent 2p', 'wózek']))}`;
  const click = `&gclid=${random.word().toString(36)}${random.word().toString(36)}`;
  const campaign = utm('google', 'cpc', random.pick(campaigns));
  return { referrer: 'https://www.google.com/', query: campaign + term + click };
}

function paidSocial(random: Random): Arrival {
  const content = `&utm_content=ad_${random.between(100, 180)}`;
  const click = `&fbclid=IwAR${random.word().toString(36)}${random.word().toString(36)}`;
  const campaign = utm('facebook', 'paid_social', random.pick(campaigns));
  return { referrer: 'https://l.facebook.com/', query: campaign + content + click };
}

function newsletter(random: Random): Arrival {
  return { query: utm('newsletter', 'email', `week-${random.between(1, 52)}`) };
}

function utm(source: string, medium: string, campaign: string): string {
  return `utm_source=${source}&utm_medium=${medium}&utm_campaign=${campaign}`;
}
