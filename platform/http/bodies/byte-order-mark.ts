// The byte order mark, which some programs write in front of UTF-8. RFC 8259 lets a reader of JSON ignore it, and every
// way in does. In binary protobuf these bytes have no such meaning.

const firstByte = 0xef;

/** `json` without a mark at its start; a view of the same memory. */
export function withoutByteOrderMark<Memory extends ArrayBufferLike>(
  json: Buffer<Memory>,
): Buffer<Memory> {
  const isMarked = json[0] === firstByte && json[1] === 0xbb && json[2] === 0xbf;
  return isMarked ? json.subarray(3) : json;
}
