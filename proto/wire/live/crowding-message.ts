// The projects whose events fill a shard's queue, as the pipeline tells them to ingest by a core message: their marks
// (projectMark in proto/wire/frame.ts), four bytes each, little-endian.

const markBytes = 4;
/** More marks are left out: a message stays below 4 KiB, and the next one tells of the others. */
const maxMarks = 1_000;

export function encodeCrowding(marks: readonly number[]): Uint8Array {
  const told = marks.slice(0, maxMarks);
  const content = Buffer.alloc(markBytes * told.length);
  for (const [index, mark] of told.entries()) content.writeUInt32LE(mark, markBytes * index);
  return content;
}

/** At most `maxMarks`; none where the bytes are no such message. */
export function readCrowding(content: Uint8Array): number[] {
  const count = content.length / markBytes;
  if (!Number.isInteger(count) || count > maxMarks) return [];
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  return Array.from({ length: count }, (_, index) => bytes.readUInt32LE(markBytes * index));
}
