// Events of pages in three sizes, for load: visits overlap as they do on a busy site, so that a batch holds events of
// many visitors. The same seed and time give the same events.

import { type Event, int, type Properties, text } from './event.ts';
import { createRandom, type Random } from './random.ts';
import { streamVisits } from './visitors.ts';

/** Bytes and properties an event has on average: 245 and 1, 605 and 7, 2,900 and 34. */
export type Size = 'small' | 'medium' | 'large';
export const sizes: readonly Size[] = ['small', 'medium', 'large'];

export interface SizedEvents {
  /** In the order of their times. */
  events: SizedEvent[];
  /** The browsers of the visits. */
  userAgents: string[];
}

/** A small one has its own properties only. */
type SizedEvent = Omit<Event, 'autoProperties'> & Partial<Pick<Event, 'autoProperties'>>;

const spanMs = 600_000;
const visitors = 20_000;

export function sizedEvents(size: Size, count: number, seed: number, nowMs: number): SizedEvents {
  // Pages report two events in three; only those are used.
  const options = { seed, events: 2 * count + 1_000, visitors, nowMs, spanMs };
  const visits = [...streamVisits(options)];
  const random = createRandom(seed, 1);
  const events = visits
    .flatMap(({ browser }) => browser)
    .sort((a, b) => (a.occurTime < b.occurTime ? -1 : 1))
    .slice(0, count)
    .map((event) => resize(event, size, random));
  return { events, userAgents: visits.map(({ visitor }) => visitor.agent.userAgent) };
}

function resize(event: Event, size: Size, random: Random): SizedEvent {
  switch (size) {
    case 'small': {
      const { eventId, distinctId, sessionId, occurTime } = event;
      const customProperties = { n: int(random.below(40)) };
      return { eventId, kind: 'tap', distinctId, sessionId, occurTime, customProperties };
    }
    case 'medium':
      return event;
    case 'large':
      return { ...event, customProperties: { ...event.customProperties, ...bulk(random) } };
    default:
      return size satisfies never;
  }
}

const words = [
  ...['shipping', 'warehouse', 'gentle', 'harbour', 'mechanism', 'velvet', 'orchard', 'signal'],
  ...['źródło', 'gżegżółka', 'ćwierć', 'łąka', 'pchnąć', 'świątynia', 'jeździec', 'żółw'],
  ...['配送', '在庫', '春の', '手入れ', '道具箱', 'お知らせ', '東京都', '値引き'],
  ...['🎉', '🚚💨', '👩‍🔧', '☕️', '🌧️', 'naïve', 'Ångström', 'crème brûlée'],
  ...['C:\\temp\\new', '"quoted"', 'tab\there', 'a/b', 'line\nbreak', "it's", '<b>', '{"k":1}'],
];
const bulkNames = [
  ...[
    'note',
    'gift_message',
    'delivery_hint',
    'subtitle',
    'review',
    'origin',
    'material',
    'finish',
  ],
  ...['packing', 'courier', 'warranty', 'care', 'season', 'collection', 'audience', 'award'],
  ...['translation', 'footnote', 'badge', 'legal'],
];

/** Some thirty properties more: texts in several scripts, escapes, int64s beyond 2^53 and one long text. */
function bulk(random: Random): Properties {
  const properties: Properties = {
    description: text([...sentence(random, 60)].slice(0, 400).join('')),
  };
  for (const name of bulkNames) properties[name] = text(sentence(random, random.between(3, 8)));
  for (let index = 0; index < 6; index++) {
    const high = BigInt(random.word()) << 31n;
    properties[`ledger_${index}`] = int(high + BigInt(random.word()));
  }
  return properties;
}

function sentence(random: Random, length: number): string {
  return Array.from({ length }, () => random.pick(words)).join(' ');
}
