// The goods and texts of the demo's shop: products, categories, articles, searches. Made from word lists, so that texts
// repeat about as much as in a real shop.

import { createRandom, createZipf, type Random } from './random.ts';

export interface Product {
  id: string;
  name: string;
  category: string;
  brand: string;
  /** In US dollars; the shop charges the same number in every currency. */
  price: number;
  slug: string;
}

export const shopHost = 'shop.example';

export const categories = [
  ...['outdoor', 'kitchen', 'audio', 'lighting', 'garden', 'travel', 'office', 'cycling'],
  ...['books', 'toys', 'textiles', 'tools'],
] as const;

const makers = [
  ...['Aurora', 'Borealis', 'Cobalt', 'Dunmore', 'Élan', 'Fjällström', 'Granite', 'Hikari'],
  ...['Iława', 'Juniper', 'Kestrel', 'Lumen', 'Mistral', 'Norte', 'Ōkami', 'Przełęcz'],
];
const traits = [
  ...[
    'folding',
    'merino',
    'cast iron',
    'wireless',
    'waterproof',
    'bamboo',
    'carbon',
    'double-walled',
  ],
  ...['hand-made', 'recycled', 'compact', 'insulated', 'vintage', 'modular', 'solar', 'linen'],
];
const things = [
  ...[
    'backpack',
    'kettle',
    'headphones',
    'desk lamp',
    'watering can',
    'duffel',
    'notebook',
    'panniers',
  ],
  ...['field guide', 'puzzle', 'blanket', 'torque wrench', 'tent', 'skillet', 'speaker', 'lantern'],
  ...['trowel', 'passport case', 'monitor arm', 'bell', 'atlas', 'kite', 'towel', 'chisel set'],
];
const articleTopics = [
  ...['how to pack light', 'sharpening at home', 'what ⅛ inch means', 'slow mornings with tea'],
  ...['choosing a tent for “shoulder season”', 'repair before replace', 'ten years of one kettle'],
  ...[
    'light for a north-facing room',
    'zimowe wyprawy: poradnik',
    '道具の手入れ',
    'biking with children',
  ],
];

const productCount = 600;

/** The same six hundred products in every run. */
export const products: readonly Product[] = makeProducts();

const productRank = createZipf(productCount, 0.9);

/** A product, the popular ones more often. */
export function pickProduct(random: Random): Product {
  return products[productRank(random)] ?? random.pick(products);
}

/** The path and title of an article. */
export function pickArticle(random: Random): { path: string; title: string } {
  const topic = random.pick(articleTopics);
  return { path: `/journal/${encodeURIComponent(slugOf(topic))}`, title: topic };
}

/** A text for the search box: mostly part of a product's name, sometimes mistyped. */
export function pickQuery(random: Random): string {
  const words = pickProduct(random).name.toLowerCase().split(' ');
  const query = words.slice(0, random.between(1, words.length)).join(' ');
  if (!random.chance(0.08) || query.length < 5) return query;
  const place = random.between(1, query.length - 2);
  return query.slice(0, place) + query.slice(place + 1);
}

function makeProducts(): Product[] {
  const random = createRandom(20_260_101);
  return Array.from({ length: productCount }, (_, index) => {
    const brand = random.pick(makers);
    const name = `${brand} ${random.pick(traits)} ${random.pick(things)}`;
    const id = `sku_${(index * 7919 + 100_003).toString(36)}`;
    const price = Math.round((4 + random.exponential(60)) * 100) / 100;
    return { id, name, category: random.pick(categories), brand, price, slug: slugOf(name) };
  });
}

function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
}
