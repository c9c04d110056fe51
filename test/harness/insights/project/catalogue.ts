// The names and values that generated projects and questions draw from: odd kinds, all types of properties, texts that
// look like SQL or placeholders.

import type { Draw } from '../random.ts';
import type { SentValue } from './sent-event.ts';

export const kinds = [
  'page_view',
  'click_it',
  'page_leave',
  'scroll',
  'app.open',
  'SELECT',
  'signup',
  'a-b_c.d',
  '-',
  '0',
  'p0',
  'null',
  'others',
  'k'.repeat(200),
] as const;

/** Names and values that must never be read as anything but text. */
export const hostileTexts = [
  "it's",
  'a"b`c',
  'back\\slash\\',
  "\\'; DROP TABLE events; --",
  'line\nbreak\ttab\r',
  '100%_%s',
  '{p0:String}',
  'profile.plan',
  '!others',
  '1:a',
  'Ключ',
  '😀 emoji',
  'a.b',
  ' ',
  'NULL',
  '$1',
  '__proto__',
  "') OR 1=1 /*",
] as const;

/** Custom properties with an own kind of value each. */
export const customProperties = [
  'plan',
  'amount',
  'big',
  'ratio',
  'flag',
  'when',
  'mixed',
] as const;
export const autoProperties = ['$browser', '$os', '$pathname', '$country', '$odd \'"\\%'] as const;
export const hostileProperties = hostileTexts.filter((name) => !name.startsWith('$'));
export const traits = [
  'plan',
  'age',
  'city',
  'tags',
  'address',
  'address.city',
  'vip',
  "o'dd",
] as const;

const string = (value: string): SentValue => ({ type: 'string', value });
const int = (value: bigint): SentValue => ({ type: 'int', value });
const double = (value: number): SentValue => ({ type: 'double', value });

const times = [0, 1_767_323_045_000, 1_767_323_045_120, 946_684_800_001];
const mixed: SentValue[] = [
  string('42'),
  int(42n),
  double(42),
  double(42.5),
  { type: 'bool', value: true },
  string('true'),
  string('TRUE'),
  { type: 'time', value: 1_767_323_045_000 },
  string('2026-01-02T03:04:05Z'),
  string(''),
  string('042'),
  int(-7n),
  double(-0),
  int(0n),
  double(0.125),
];

/** A value of the property, of the types that it has. */
export function drawValue(draw: Draw, property: string): SentValue {
  switch (property) {
    case 'plan':
      return string(draw.pick(['free', 'pro', 'Pro', 'team', 'ünï ÜNÏ', '']));
    case 'amount':
      // Most cents are no doubles: added up one by one, their sum depends on the order.
      return draw.chance(0.3) ? int(BigInt(draw.below(50))) : double(draw.below(50_000) / 100 - 20);
    case 'big':
      return int(
        draw.pick([
          2n ** 53n + 1n,
          2n ** 53n,
          2n ** 62n + 3n,
          2n ** 63n - 1n,
          9_007_199_254_740_995n,
        ]),
      );
    case 'ratio':
      return double(
        draw.pick([0.1, 0.2, 0.3, 1e-7, 123_456.789, 1e21, 5e-324, 2 / 3, 1.7e308, -1.7e308]),
      );
    case 'flag':
      return { type: 'bool', value: draw.chance(0.5) };
    case 'when':
      return { type: 'time', value: draw.pick(times) };
    case 'mixed':
      return draw.pick(mixed);
    case '$browser':
      return draw.chance(0.1)
        ? draw.pick([int(7n), string(''), string('7'), { type: 'bool', value: true } as const])
        : string(draw.pick(['Chrome', 'Firefox', 'Safari', 'Edge']));
    case '$os':
      return string(draw.pick(['macOS', 'Linux', 'Windows']));
    case '$pathname':
      return string(
        draw.pick(['/', '/a', '/b/ü', '/c', '/d', '/e', "/it's", '/f', '/g', '/h', '/i', '']),
      );
    case '$country':
      return string(draw.pick(['DE', 'US', 'BR', 'IN']));
    default:
      return draw.chance(0.2) ? draw.pick(mixed) : string(draw.pick(hostileTexts));
  }
}

/** Traits of one Identify. */
export function drawTraits(draw: Draw): Record<string, unknown> {
  const values: Record<string, () => unknown> = {
    plan: () => draw.pick(['free', 'pro', '42', 42, true, null, '']),
    age: () => draw.pick([18, 18.5, 33, -1, 0, 1e15, '18']),
    city: () => draw.pick(['Berlin', 'São Paulo', "L'Aquila", 'Kolkata']),
    tags: () => draw.pick([['a', 'b'], [], ['a', { b: 1 }]]),
    address: () => draw.pick([{ city: 'Rome', zip: 7 }, { city: 'Oslo' }, 'none', { city: null }]),
    vip: () => draw.chance(0.5),
    "o'dd": () => draw.pick(hostileTexts),
  };
  const drawn = Object.entries(values).filter(() => draw.chance(0.5));
  return Object.fromEntries(drawn.map(([name, value]) => [name, value()]));
}
