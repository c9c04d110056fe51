// The rows that statements answered, within a number of bytes; those that were used last stay. Whether rows are still
// true is their reader's question. Rows are kept as they came from the engine, so that what is made of them for one
// caller, such as a stand-in for a key that JSON loses, never reaches another.

export interface Rows {
  texts: readonly string[];
  characters: number;
}

/** A character takes up to two bytes. */
const bytesOfCharacter = 2;
/** Besides its characters, in about: the text's own fields and its place in the list; the entry and its key. */
const bytesOfRow = 48;
const bytesOfEntry = 512;
/** One answer takes at most this part of all room. */
const largestPart = 4;

export class ResultCache<T extends Rows> {
  readonly #maxBytes: number;
  /** The one used last is the last. */
  readonly #entries = new Map<string, T>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): T | undefined {
    const rows = this.#entries.get(key);
    if (rows === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, rows);
    return rows;
  }

  /** Replaces the rows of `key`. */
  set(key: string, rows: T): void {
    this.delete(key);
    const bytes = bytesOf(rows);
    if (bytes > this.#maxBytes / largestPart) return;
    this.#entries.set(key, rows);
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const rows = this.#entries.get(key);
    if (rows === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= bytesOf(rows);
  }
}

function bytesOf({ texts, characters }: Rows): number {
  return bytesOfEntry + texts.length * bytesOfRow + characters * bytesOfCharacter;
}
