// Writes a property that the server adds to each event of a request in the layout of the scanner's module. Does not
// decide which properties are added.

/** Variants of a PropertyValue, in the order of the module's maps. */
export const mapVariants = [
  'stringValue',
  'intValue',
  'doubleValue',
  'boolValue',
  'timestampValue',
] as const;

/** A property that the server adds to each event of a request. */
export type AddedProperty = { readonly slot: number; readonly onlyIfAbsent: boolean } & (
  | { readonly variant: 'intValue' | 'timestampValue'; readonly value: bigint }
  | { readonly variant: 'doubleValue'; readonly value: number }
  | { readonly variant: 'boolValue'; readonly value: boolean }
);

/** The bytes of one added property in the module's memory. */
export const addedBytes = 24;

/**
 * Writes a property. `map` is its variant's place in `mapVariants`, `key` its name's number in that map's dictionary.
 */
export function writeAdded(
  view: DataView,
  property: AddedProperty,
  map: number,
  key: number,
): void {
  view.setUint32(0, property.slot, true);
  view.setUint32(4, property.onlyIfAbsent ? 1 : 0, true);
  view.setUint32(8, map, true);
  view.setUint32(12, key, true);
  if (typeof property.value === 'bigint') view.setBigInt64(16, property.value, true);
  else if (typeof property.value === 'number') view.setFloat64(16, property.value, true);
  else view.setUint8(16, property.value ? 1 : 0);
}
