// One event as the steps of enrichment read and change it, and the slots by which they name its properties. On the
// reference path each event becomes an EventRow, on the fast path one EventRow represents many scanned rows;
// EventColumns (columns/record-batch.ts) are the rows of a whole batch. A row is reused, so nobody keeps one.

import {
  autoColumns,
  type PropertyVariant,
  propertyMaps,
} from '../../platform/clickhouse/event-columns.ts';

/** Auto properties without a column that enrichment replaces or removes. */
const otherSlotProperties = [
  '$latitude',
  '$longitude',
  '$mobile',
  '$bot',
  '$bot_score',
  '$verified_bot',
  '$ip',
] as const;

/** An auto property that enrichment can ask a row for. */
type SlotProperty = (typeof autoColumns)[number]['property'] | (typeof otherSlotProperties)[number];

/** Every property that has a slot, by slot: the properties with a column first. */
export const slotProperties: readonly SlotProperty[] = [
  ...autoColumns.map((column) => column.property),
  ...otherSlotProperties,
];

const slotByName: ReadonlyMap<string, number> = new Map(
  slotProperties.map((property, slot) => [property, slot]),
);

if (slotProperties.length > 32) throw new Error('event-row: a row has 32 presence bits');

/** Index of a property's presence bit; below `autoColumns.length` it is also the index of its column. */
export function slotOf(property: SlotProperty): number {
  return slotByName.get(property) ?? -1;
}

/** The slot of a name that came from outside; undefined where no step asks for the property. */
export function findSlot(property: string): number | undefined {
  return slotByName.get(property);
}

/** For each variant its index in `propertyMaps`. */
export const variantIndex: Readonly<Record<PropertyVariant, number>> = {
  stringValue: indexOfVariant('stringValue'),
  intValue: indexOfVariant('intValue'),
  doubleValue: indexOfVariant('doubleValue'),
  boolValue: indexOfVariant('boolValue'),
  timestampValue: indexOfVariant('timestampValue'),
};

/** A value as its map's column takes it: int64 as a safe number or a bigint, times as milliseconds since the epoch. */
export type PropertyScalar = string | number | bigint | boolean;

export class EventRow {
  /** The event id's 16 bytes in text order, as four words in the machine's byte order. */
  readonly eventId = new Uint32Array(4);
  /** The session id, in the same form. */
  readonly sessionId = new Uint32Array(4);
  kind = '';
  distinctId = '';
  cookieless = false;
  /** No session was sent: the writer finds one. */
  sessionDerived = false;
  /** The visitor's id beyond the nearest midnight, where a session may go on over it; '' where there is none. */
  otherId = '';
  occurTimeMs = 0;
  /** The texts of `autoColumns`, by index; '' is absent. */
  readonly texts: string[] = autoColumns.map(() => '');
  /** Bit `slotOf(p)` is set where the row has property p, of any type. */
  present = 0;
  /** Properties that live in maps, in the order sent: parallel lists, the first `count` entries in use. */
  readonly keys: string[] = [];
  readonly variants: number[] = [];
  readonly values: PropertyScalar[] = [];
  count = 0;

  /** Empties the row for the next event. */
  reset(): void {
    this.texts.fill('');
    this.present = 0;
    this.count = 0;
  }

  has(slot: number): boolean {
    return (this.present & (1 << slot)) !== 0;
  }

  /** Adds a property that lives in a map. The row must not have the key yet. */
  add(key: string, variant: number, value: PropertyScalar): void {
    this.keys[this.count] = key;
    this.variants[this.count] = variant;
    this.values[this.count] = value;
    this.count++;
  }

  /** Gives a property with a column its text; '' does nothing. The slot must be free. */
  putText(slot: number, text: string): void {
    if (text === '') return;
    this.texts[slot] = text;
    this.present |= 1 << slot;
  }

  /** Gives a property without a column its value. The slot must be free. */
  putValue(slot: number, variant: number, value: PropertyScalar): void {
    this.add(slotProperties[slot] ?? '', variant, value);
    this.present |= 1 << slot;
  }

  /** Removes a property, from its column or from the map of its type. */
  remove(slot: number): void {
    if (!this.has(slot)) return;
    this.present &= ~(1 << slot);
    if (slot < this.texts.length) this.texts[slot] = '';
    const key = slotProperties[slot];
    let kept = 0;
    for (let index = 0; index < this.count; index++) {
      if (this.keys[index] === key) continue;
      this.keys[kept] = this.keys[index] ?? '';
      this.variants[kept] = this.variants[index] ?? 0;
      this.values[kept] = this.values[index] ?? '';
      kept++;
    }
    this.count = kept;
  }
}

function indexOfVariant(variant: PropertyVariant): number {
  return propertyMaps.findIndex((map) => map.variant === variant);
}
