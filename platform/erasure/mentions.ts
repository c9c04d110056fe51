// Whether bytes of a message name a person: as a text in JSON, also within a text, or as a field of protobuf. An id
// that is a part of a longer one is not that one.

/** The bytes to look for. */
export type Names = readonly Buffer[];

export function namesOf(texts: readonly string[]): Names {
  return texts.flatMap((text) => {
    const json = JSON.stringify(text);
    const ascii = json.replace(/[\u0080-\uffff]/g, (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
    const bytes = Buffer.from(text);
    return [
      ...new Set([
        json,
        ascii,
        JSON.stringify(json).slice(1, -1),
        JSON.stringify(ascii).slice(1, -1),
      ]),
    ]
      .map((form) => Buffer.from(form))
      .concat(Buffer.concat([lengthOf(bytes.length), bytes]));
  });
}

export function mentions(content: Uint8Array, names: Names): boolean {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return names.some((name) => bytes.includes(name));
}

/** A protobuf length: seven bits a byte, the least first. */
function lengthOf(length: number): Buffer {
  const bytes: number[] = [];
  let left = length;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  bytes.push(left);
  return Buffer.from(bytes);
}
