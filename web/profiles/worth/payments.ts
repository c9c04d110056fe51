// Sums of payments as texts, each currency apart: no number is made of two. What a user paid is the service's to add up
// (ProfileWorth); what a visit brought is added up here, of the events that are shown. A payment is an event with a
// number in `amount`, as in questions of revenue (docs/insights.md); refunds are negative ones.

import { figure } from '../../../platform/words/figures.ts';
import { noCurrencyName } from '../../../platform/words/insight-words.ts';
import type { ActivityEvent } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import type { CurrencySum } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { textOf } from '../../event/value.ts';

type Payer = Pick<ActivityEvent, 'customProperties'>;

/** `amount`: a decimal number's text; no `currency` where the payments name none. */
export type Sum = Pick<CurrencySum, 'amount' | 'currency'>;

/** An exact decimal number: `digits` divided by ten to the power of `scale`. */
interface Decimal {
  digits: bigint;
  scale: number;
}

/** What events brought, as texts: the currency with the most payments first. */
export function broughtTexts(events: readonly Payer[]): string[] {
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
  return [...sums]
    .sort(([one, { payments: a }], [other, { payments: b }]) => b - a || (one < other ? -1 : 1))
    .map(([currency, { sum }]) => moneyText(sum, currency));
}

/** "30.50 EUR": two places where there are any, rounded. */
export function sumText({ amount, currency }: Sum): string {
  return moneyText(decimalOf(amount) ?? { digits: 0n, scale: 0 }, currency);
}

function moneyText(sum: Decimal, currency: string | undefined): string {
  return `${decimalText(sum)} ${currency || noCurrencyName}`;
}

function amountOf({ customProperties }: Payer): Decimal | undefined {
  const found = Object.hasOwn(customProperties, 'amount') ? customProperties['amount'] : undefined;
  const { value } = found ?? {};
  if (value?.case === 'intValue') return { digits: value.value, scale: 0 };
  if (value?.case === 'doubleValue') return decimalOf(String(value.value));
  return undefined;
}

const parts = /^(-?\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** Of the shortest text that a number has: 0.1 is a tenth. undefined for what is no finite number. */
function decimalOf(text: string): Decimal | undefined {
  const [, whole, fraction = '', exponent = '0'] = parts.exec(text) ?? [];
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

function decimalText({ digits, scale }: Decimal): string {
  const one = 10n ** BigInt(scale);
  if (digits % one === 0n) return figure(digits / one);
  const size = digits < 0n ? -digits : digits;
  const cents = (size * 200n + one) / (2n * one);
  const sign = digits < 0n && cents > 0n ? '-' : '';
  return `${sign}${figure(cents / 100n)}.${String(cents % 100n).padStart(2, '0')}`;
}
