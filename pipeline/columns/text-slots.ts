// Which columns hold the texts of which slots of a row: one each, or several packed into one.

import { autoColumns, packedColumns } from '../../platform/clickhouse/event-columns.ts';
import { DictionaryColumn } from './dictionary-column.ts';
import { PackedColumn } from './packed-column.ts';
import { TextColumn } from './text-column.ts';

/** A column of the texts of the slots from `slot` to before `endSlot`: several where it packs them. */
export interface TextSlots {
  readonly name: string;
  readonly slot: number;
  readonly endSlot: number;
  readonly buffer: DictionaryColumn | TextColumn | PackedColumn;
}

/** In the order of slots; `nextDictionary` numbers the dictionaries. */
export function textSlots(nextDictionary: () => number): TextSlots[] {
  return autoColumns.flatMap(({ column, lowCardinality }, slot): TextSlots[] => {
    const pack = packedColumns.find(({ of }) => of.some((one) => one === column));
    if (pack === undefined) {
      const buffer = lowCardinality ? new DictionaryColumn(nextDictionary()) : new TextColumn();
      return [{ name: column, slot, endSlot: slot + 1, buffer }];
    }
    if (pack.of[0] !== column) return [];
    const width = pack.of.length;
    const buffer = new PackedColumn(nextDictionary(), width);
    return [{ name: pack.column, slot, endSlot: slot + width, buffer }];
  });
}

const slotOfProperty = new Map<string, number>(
  autoColumns.map(({ property }, slot) => [property, slot]),
);

/** A row's text of a property that has a slot; empty where the row has none, and for other properties. */
export function textOfProperty(columns: readonly TextSlots[], row: number, name: string): string {
  const slot = slotOfProperty.get(name);
  const own = slot === undefined ? undefined : columns.find(({ endSlot }) => slot < endSlot);
  if (slot === undefined || own === undefined) return '';
  return own.buffer instanceof PackedColumn
    ? own.buffer.at(row, slot - own.slot)
    : own.buffer.at(row);
}
