// What a shop's visitors do, and the custom properties of each kind of event: texts, integers, doubles, booleans and
// times, under names that are frequent and names that are rare.

import { type EventRow, variantIndex } from '../../../pipeline/enrich/event-row.ts';
import { dayMs } from '../../../platform/clock.ts';
import { hash32, type Random, Weighted } from './random.ts';

/** 25 kinds; half of the events and the first of nearly every visit are page views. */
export const kinds = new Weighted<string>([
  ['page_view', 410],
  ['click', 120],
  ['product_viewed', 110],
  ['scroll', 70],
  ['search', 50],
  ['add_to_cart', 48],
  ['search_result_clicked', 30],
  ['checkout_started', 25],
  ['feature_used', 22],
  ['video_started', 18],
  ['purchase', 16],
  ['form_start', 14],
  ['form_submit', 10],
  ['signin', 10],
  ['product_list_viewed', 8],
  ['video_completed', 8],
  ['share', 6],
  ['signup', 6],
  ['remove_from_cart', 5],
  ['page_leave', 5],
  ['error_occurred', 3],
  ['nps_submitted', 2],
  ['rage_click', 2],
  ['subscription_started', 1],
  ['order_refunded', 1],
]);

export const plans = ['free', 'pro', 'team', 'enterprise'] as const;
const themes = ['light', 'dark', 'contrast'] as const;
const rareNames = 40;

const { stringValue, intValue, doubleValue, boolValue, timestampValue } = variantIndex;

/** Adds up to eight custom properties to an event whose kind and time are set. */
export function addCustomProperties(row: EventRow, random: Random, person: number): void {
  if (random.chance(0.4)) row.add('plan', stringValue, plans[hash32(person, 20) % 4] ?? 'free');
  if (random.chance(0.25)) row.add('experiment', stringValue, `variant-${random.below(5)}`);
  if (random.chance(0.5)) row.add('signedIn', boolValue, random.chance(0.3));
  switch (row.kind) {
    case 'page_view':
      if (random.chance(0.3)) row.add('theme', stringValue, themes[random.below(3)] ?? 'light');
      if (random.chance(0.3)) row.add('loadMs', intValue, 50 + random.below(3_000));
      break;
    case 'product_viewed':
    case 'add_to_cart':
    case 'remove_from_cart': {
      const product = random.below(5_000);
      row.add('product_id', stringValue, `product-${product}`);
      row.add('category', stringValue, `category-${product % 12}`);
      row.add('price', doubleValue, (100 + (hash32(product, 21) % 20_000)) / 100);
      row.add('quantity', intValue, 1 + random.below(4));
      break;
    }
    case 'purchase':
      row.add('amount', doubleValue, (500 + random.below(30_000)) / 100);
      row.add('currency', stringValue, random.chance(0.7) ? 'EUR' : 'USD');
      row.add('order_id', stringValue, `order-${random.word().toString(36)}`);
      row.add('deliverBy', timestampValue, row.occurTimeMs + dayMs * (1 + random.below(5)));
      break;
    case 'search':
      row.add('query', stringValue, `words ${random.below(2_000)}`);
      row.add('results', intValue, random.below(200));
      break;
    default:
      row.add('position', intValue, random.below(50));
  }
  if (random.chance(0.3)) addRareProperty(row, random);
}

/** Their types take turns. */
function addRareProperty(row: EventRow, random: Random): void {
  const name = random.below(rareNames);
  const [variant, value] = rareValue(name % 5, random, row.occurTimeMs);
  row.add(`detail_${name}`, variant, value);
}

function rareValue(
  type: number,
  random: Random,
  nowMs: number,
): [variant: number, value: string | number | boolean] {
  switch (type) {
    case 0:
      return [stringValue, `value ${random.below(100)}`];
    case 1:
      return [intValue, random.below(1_000)];
    case 2:
      return [doubleValue, random.below(100_000) / 8];
    case 3:
      return [boolValue, random.chance(0.5)];
    default:
      return [timestampValue, nowMs - random.below(dayMs)];
  }
}
