// One visit to the demo's shop: the steps that a visitor takes and how often. walk.ts records them as events;
// visitors.ts decides who comes and when.

import { dayMs } from '../../platform/clock.ts';
import { pickArrival } from './arrivals.ts';
import {
  categories,
  type Product,
  pickArticle,
  pickProduct,
  pickQuery,
  shopHost,
} from './catalogue.ts';
import { bool, double, int, moment, type Properties, text } from './event.ts';
import type { Visitor } from './people/population.ts';
import { createWeighted, type Random } from './random.ts';
import { visitRoom } from './rooms.ts';
import { openPage, record, type Visit, type Walk } from './walk.ts';

/** With a season's dice one visit in three ends where it began, and visitors go to rooms. */
const bounced = 0.3;

/**
 * A whole visit that begins at `startMs`; the last event is at `latestMs` or before. `seasonDice` is absent where the
 * visits are for load: their draws stay the same, whatever the demo has.
 */
export function takeVisit(
  visitor: Visitor,
  random: Random,
  startMs: number,
  latestMs: number,
  seasonDice?: Random,
): Visit {
  const visit: Visit = { visitor, browser: [], server: [] };
  const walk: Walk = {
    ...{ visitor, random, timeMs: startMs, latestMs, cart: [], visit },
    sessionId: random.uuid(),
    ...{ url: '', referrer: '', title: '' },
  };
  land(walk);
  const bot = isBot(visitor);
  if (!bot && seasonDice?.chance(bounced)) return visit;
  const steps = Math.floor(random.exponential(bot ? 12 : 5));
  for (let step = 0; step < steps; step++) (bot ? pickBotStep : pickStep)(random)(walk);
  if (!visitor.registered && !bot && random.chance(0.04)) signUp(walk);
  if (walk.cart.length > 0 && random.chance(0.5)) checkOut(walk);
  if (seasonDice !== undefined && !bot) visitRoom({ ...walk, random: seasonDice });
  return visit;
}

function isBot({ agent }: Visitor): boolean {
  return agent.deviceType === 'bot';
}

const pickStep = createWeighted<(walk: Walk) => void>([
  [18, viewCategory],
  [34, viewProduct],
  [12, searchShop],
  [8, readArticle],
  [9, scrollDown],
  [6, clickSomething],
  [6, showRecommendation],
  [4, useFeature],
  [2, watchVideo],
  [1, meetError],
]);

const pickBotStep = createWeighted<(walk: Walk) => void>([
  [30, viewCategory],
  [50, viewProduct],
  [20, readArticle],
]);

function land(walk: Walk): void {
  const arrival = pickArrival(walk.random);
  const product = pickProduct(walk.random);
  const path = walk.random.chance(0.4) ? '/' : productPath(product);
  walk.url = `https://${shopHost}${path}${arrival.query === '' ? '' : `?${arrival.query}`}`;
  walk.referrer = arrival.referrer ?? '';
  walk.title = path === '/' ? 'Good things, kept long' : product.name;
  record(walk, 'page_view', { load_time_ms: int(walk.random.between(180, 4_200)) });
}

function viewCategory(walk: Walk): void {
  const category = walk.random.pick(categories);
  const page = walk.random.below(4);
  openPage(walk, `/c/${category}${page === 0 ? '' : `?page=${page + 1}`}`, category);
  record(walk, 'product_list_viewed', { list_id: text(category), products: int(24) });
}

function viewProduct(walk: Walk): void {
  const product = pickProduct(walk.random);
  openPage(walk, productPath(product), product.name);
  record(walk, 'product_viewed', {
    ...describe(product),
    in_stock: bool(walk.random.chance(0.92)),
    ships_by: moment(walk.timeMs + walk.random.between(1, 6) * dayMs),
  });
  if (isBot(walk.visitor) || !walk.random.chance(0.22)) return;
  walk.cart.push(product);
  record(walk, 'add_to_cart', { ...describe(product), quantity: int(walk.random.between(1, 3)) });
  if (walk.random.chance(0.15)) record(walk, 'cart_viewed', { items: int(walk.cart.length) });
}

function searchShop(walk: Walk): void {
  const query = pickQuery(walk.random);
  const results = walk.random.below(60);
  openPage(walk, `/search?q=${encodeURIComponent(query)}`, `“${query}”`);
  record(walk, 'search', { query: text(query), results: int(results) });
  if (results === 0 || !walk.random.chance(0.5)) return;
  const product = pickProduct(walk.random);
  const position = int(walk.random.between(1, 10));
  record(walk, 'search_result_clicked', {
    ...{ query: text(query), result_id: text(product.id), position },
  });
}

function readArticle(walk: Walk): void {
  const article = pickArticle(walk.random);
  openPage(walk, article.path, article.title);
  if (walk.random.chance(0.2)) record(walk, 'share', { network: text('mail') });
}

function scrollDown(walk: Walk): void {
  record(walk, 'scroll', { percent: int(walk.random.pick([25, 50, 75, 90, 100])) });
}

function clickSomething(walk: Walk): void {
  const target = walk.random.pick([
    'nav.menu',
    'footer.help',
    'gallery.next',
    'size-guide',
    'chat',
  ]);
  record(walk, 'click', {
    target: text(target),
    x: int(walk.random.below(walk.visitor.screen[0])),
  });
}

// A custom event kind of the shop, with a property of each of the five types.
function showRecommendation(walk: Walk): void {
  record(walk, 'recommendation.shown', {
    slot: text(walk.random.pick(['below-fold', 'cart-side', 'empty-search'])),
    position: int(walk.random.between(1, 8)),
    score: double(Math.round(walk.random.next() * 10_000) / 10_000),
    personalised: bool(walk.visitor.registered),
    computed_at: moment(walk.timeMs - walk.random.between(1_000, 3_600_000)),
  });
}

function useFeature(walk: Walk): void {
  const snowflake = (BigInt(walk.timeMs) << 22n) | BigInt(walk.random.below(1 << 22));
  record(walk, 'feature_used', {
    feature_id: text(walk.random.pick(['wishlist', 'compare', 'dark-mode', 'stock-alert'])),
    action_id: int(snowflake),
    enabled: bool(walk.random.chance(0.7)),
  });
}

function watchVideo(walk: Walk): void {
  const video = { video_id: text(`v${walk.random.between(100, 160)}`) };
  record(walk, 'video_started', { ...video, seconds: double(walk.random.between(200, 900) / 10) });
  if (walk.random.chance(0.4)) record(walk, 'video_completed', video);
}

function meetError(walk: Walk): void {
  const code = walk.random.pick(['E_TIMEOUT', 'E_IMAGE', '502']);
  record(walk, 'error_occurred', { error_code: text(code), fatal: bool(walk.random.chance(0.1)) });
}

function signUp(walk: Walk): void {
  record(walk, 'signup', { method: text(walk.random.pick(['email', 'google'])) }, 'server');
}

function checkOut(walk: Walk): void {
  const total = Math.round(walk.cart.reduce((sum, { price }) => sum + price, 0) * 100) / 100;
  const amount = double(total);
  const currency = text(walk.visitor.place.currency);
  const checkout = text(`chk_${walk.random.word().toString(36)}`);
  openPage(walk, '/checkout', 'Checkout');
  record(walk, 'checkout_started', { checkout_id: checkout, amount, currency });
  for (let step = 1; step <= 3; step++) {
    if (walk.random.chance(0.12)) return;
    record(walk, 'checkout_step_completed', { checkout_id: checkout, step: int(step) });
  }
  record(
    walk,
    'purchase',
    {
      ...{ amount, currency, items: int(walk.cart.length), revenue: amount },
      order_id: text(`ord_${walk.random.word().toString(36)}${walk.random.word().toString(36)}`),
      coupon: bool(walk.random.chance(0.2)),
      delivery_due: moment(walk.timeMs + walk.random.between(2, 9) * dayMs),
    },
    'server',
  );
}

function productPath(product: Product): string {
  return `/p/${encodeURIComponent(product.slug)}`;
}

function describe(product: Product): Properties {
  const { id, name, category, brand, price } = product;
  return {
    ...{ product_id: text(id), name: text(name), category: text(category), brand: text(brand) },
    price: double(price),
  };
}
