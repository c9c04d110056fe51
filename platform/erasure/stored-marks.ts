// What of the shards was stored at a moment: rows that come later are told apart by their places in the streams.

/** Which messages of a shard's events were stored at a moment. */
export interface StoredMark {
  shard: number;
  streamCreated: string;
  /** Every message up to it. */
  hwm: number;
  /** And these beyond it, both ends included. */
  ahead: readonly (readonly [number, number])[];
}
