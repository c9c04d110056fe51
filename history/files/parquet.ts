// The rows of a Parquet file as the JSON that a vendor's own export writes: integers of 64 bits and times as texts,
// nulls left out. Whole groups of rows are never held: a group may have a million.

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { isObject } from '../../platform/json.ts';

/** Rows that are decoded at once. */
const rowsAtOnce = 20_000;

/** Throws the package's errors. */
export async function* readParquet(path: string): AsyncGenerator<unknown[]> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  let groupStart = 0;
  for (const group of metadata.row_groups) {
    const groupEnd = groupStart + Number(group.num_rows);
    for (let rowStart = groupStart; rowStart < groupEnd; rowStart += rowsAtOnce) {
      const rowEnd = Math.min(groupEnd, rowStart + rowsAtOnce);
      const rows = await parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd });
      yield rows.map(asJson);
    }
    groupStart = groupEnd;
  }
}

function asJson(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(asJson);
  if (!isObject(value)) return value;
  const members: Record<string, unknown> = {};
  for (const name in value) {
    const member = value[name];
    if (member !== null && member !== undefined) members[name] = asJson(member);
  }
  return members;
}
