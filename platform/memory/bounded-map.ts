// Keeps a map within a number of entries, not bytes. A Map lists its keys in the order in which they were set, so the
// first key is the oldest.

/** Sets an entry; first drops oldest entries until fewer than `maxEntries` remain. */
export function setBounded<K, V>(map: Map<K, V>, key: K, value: V, maxEntries: number): void {
  for (const oldest of map.keys()) {
    if (map.size < maxEntries) break;
    map.delete(oldest);
  }
  map.set(key, value);
}
