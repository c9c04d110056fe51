// What payments of a user add up to, each currency apart: no number is made of two. A payment is an event with a number
// in `amount`, as in questions of revenue (docs/insights.md); refunds are negative ones.

import type { ActivityEvent } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { textOf } from '../../event/value.ts';
import { figure } from '../../ui/figures.ts';

type Payer = Pick<ActivityEvent, 'customProperties'>;

/** An exact decimal number: `digits` divided by ten to the power of `scale`. */
interface Decimal {
  digits: bigint;
  scale: number;
}

/** By currency as it was sent, '' where none was: the sum, and how many payments it is made of. */
export type Sums = ReadonlyMap<string, { sum: Decimal; payments: number }>;

export function sumsOf(events: readonly Payer[]): Sums {
  const sums = new Map<string, { sum: Decimal; payments: number }>();
  for (const event of events) {
    const amount = amountOf(event);
    if (amount === undefined) continue;
    const currency = textOf(event.customProperties, 'currency');
    const before = sums.get(currency);
    sums.set(currency, {
      sum: before ? added(before.sum, amount) : amount,
      payments: (before?.payments ?? 0) + 1,
    });
  }
  return sums;
}

/** "30.50 EUR": the currency with the most payments first. */
export function sumTexts(sums: Sums): string[] {
  return [...sums]
    .sort(([one, { payments: a }], [other, { payments: b }]) => b - a || (one < other ? -1 : 1))
    .map(([currency, { sum }]) => `${decimalText(sum)} ${currency || 'no currency'}`);
}

function amountOf({ customProperties }: Payer): Decimal | undefined {
  const found = Object.hasOwn(customProperties, 'amount') ? customProperties['amount'] : undefined;
  const { value } = found ?? {};
  if (value?.case === 'intValue') return { digits: value.value, scale: 0 };
  if (value?.case === 'doubleValue') return decimalOf(value.value);
  return undefined;
}

const parts = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** Of the shortest text that a number has: 0.1 is a tenth. undefined for what is no finite number. */
function decimalOf(value: number): Decimal | undefined {
  const [, whole, fraction = '', exponent = '0'] = parts.exec(String(value)) ?? [];
  if (whole === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

function added(one: Decimal, other: Decimal): Decimal {
  const scale = Math.max(one.scale, other.scale);
  const scaled = ({ digits, scale: own }: Decimal): bigint => digits * 10n ** BigInt(scale - own);
  return { digits: scaled(one) + scaled(other), scale };
}

/** Two places where there are any, rounded. */
function decimalText({ digits, scale }: Decimal): string {
  const one = 10n ** BigInt(scale);
  if (digits % one === 0n) return figure(digits / one);
  const size = digits < 0n ? -digits : digits;
  const cents = (size * 200n + one) / (2n * one);
  const sign = digits < 0n && cents > 0n ? '-' : '';
  return `${sign}${figure(cents / 100n)}.${String(cents % 100n).padStart(2, '0')}`;
}
