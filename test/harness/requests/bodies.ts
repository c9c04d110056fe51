// Request bodies for the benches: the demo's own visits in three sizes, from a fixed seed. A body is made once; before
// it is sent again its event ids are overwritten in place, because the same ids would be dropped as duplicates.

import { type Event, int, type Properties, text } from '../../../demo/visits/event.ts';
import { createRandom, type Random } from '../../../demo/visits/random.ts';
import { streamVisits } from '../../../demo/visits/visitors.ts';

/** Bytes and properties an event has on average: 245 and 1, 605 and 7, 2,900 and 34. */
export type Size = 'small' | 'medium' | 'large';
export const sizes: readonly Size[] = ['small', 'medium', 'large'];

export interface Body {
  bytes: Buffer;
  /** Where each event's id begins. */
  idOffsets: Uint32Array;
  /** Where each event's occurTime begins, 24 characters. */
  timeOffsets: Uint32Array;
  /** The User-Agent of the body's visitor. */
  userAgent: string;
}

interface BodyOptions {
  size: Size;
  /** Events in each body. */
  batch: number;
  /** Number of bodies; they differ in every event. */
  count: number;
  seed: number;
  nowMs: number;
}

const idPlaceholder = '"eventId":"';
const timePlaceholder = '"occurTime":"';
/** Visits overlap as they do on a busy site: a batch holds events of many visitors. */
const spanMs = 600_000;
const visitors = 20_000;

export function makeBodies({ size, batch, count, seed, nowMs }: BodyOptions): Body[] {
  const wanted = batch * count;
  // Pages report two events in three; only those are used.
  const options = { seed, events: 2 * wanted + 1_000, visitors, nowMs, spanMs };
  const visits = [...streamVisits(options)];
  const agents = visits.map(({ visitor }) => visitor.agent.userAgent);
  const events = visits
    .flatMap(({ browser }) => browser)
    .sort((a, b) => (a.occurTime < b.occurTime ? -1 : 1));
  const random = createRandom(seed, 1);
  return Array.from({ length: count }, (_, index) => {
    const chosen = events.slice(index * batch, (index + 1) * batch);
    const bytes = Buffer.from(
      JSON.stringify({ events: chosen.map((e) => resize(e, size, random)) }),
    );
    return {
      bytes,
      idOffsets: findAll(bytes, idPlaceholder, batch),
      timeOffsets: findAll(bytes, timePlaceholder, batch),
      userAgent: agents[index % agents.length] ?? '',
    };
  });
}

/**
 * Overwrites the last eight digits of every event id. `sequence` is a number below 2^32 that is new to this body: the
 * ids are then new, and as hard to compress as the random ones they replace.
 */
export function freshen(body: Body, sequence: number): void {
  const { bytes, idOffsets } = body;
  for (let index = 0; index < idOffsets.length; index++) {
    // Odd factors: for one event, different sequences give different digits.
    const word = Math.imul(sequence + Math.imul(index, 0x85eb_ca6b), 0x9e37_79b1);
    const end = (idOffsets[index] ?? 0) + 36;
    for (let digit = 0; digit < 8; digit++) {
      bytes[end - 8 + digit] = hexDigits[(word >>> (28 - 4 * digit)) & 15] ?? 0;
    }
  }
}

/** Sets every event's time to `timeMs`, like a site that sends its events at once. */
export function occurAt({ bytes, timeOffsets }: Body, timeMs: number): void {
  const text = Buffer.from(new Date(timeMs).toISOString());
  for (const at of timeOffsets) bytes.set(text, at);
}

const hexDigits = Buffer.from('0123456789abcdef');

function findAll(bytes: Buffer, placeholder: string, batch: number): Uint32Array {
  const offsets = new Uint32Array(batch);
  let from = 0;
  for (let index = 0; index < batch; index++) {
    const at = bytes.indexOf(placeholder, from);
    if (at < 0) throw new Error(`a body of ${batch} events has ${placeholder} ${index} times`);
    offsets[index] = at + placeholder.length;
    from = at + placeholder.length;
  }
  return offsets;
}

function resize(event: Event, size: Size, random: Random): object {
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
