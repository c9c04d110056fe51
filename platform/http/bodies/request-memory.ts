// The one count of the memory that requests hold, for all ways into the port: while bodies arrive, while they are
// inflated, and until their requests are answered. Knows sizes and holders; reads no bodies. Long answers that wait for
// their readers have a count of their own.

import { freeMemory } from '../../memory/free-memory.ts';

const MiB = 1_048_576;
/** All requests together. The process grows by up to twice as much: garbage is freed late, and sockets have buffers. */
const maxHeldBytes = 96 * MiB;
/** Requests without a checked credential, and requests that everybody may make, share this bound. */
const maxStrangersBytes = 16 * MiB;
/** Strangers' large bodies may take this much of their bound, so that sign-ins have room beside them. */
const maxStrangersLargeBytes = 8 * MiB;
/** A request may hold this much, about as much as its socket, whatever its holder's other requests hold. */
const smallBytes = 4_096;

/** Memory of this size is used again, at most so many times: garbage of every body would be counted twice. */
export const pooledBytes = 131_072;
const maxPooled = 32;

/** The holder of the requests that no credential was checked for. All others hold under an id of their caller's. */
export const strangers = '';

export class RequestMemory {
  readonly #heldBy = new Map<string, number>();
  readonly #pool: Buffer<ArrayBuffer>[] = [];
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes = maxHeldBytes) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Serves one request. Whatever it took is given back when `serve` settles, however it ends. */
  async during<T>(serve: (lease: Lease) => Promise<T>): Promise<T> {
    const lease = new Lease(this);
    try {
      return await serve(lease);
    } finally {
      lease.end();
    }
  }

  /** Counts `bytes` for a request that holds `before` already, or takes nothing and returns false. */
  take(holder: string, bytes: number, before: number): boolean {
    const held = this.#heldBy.get(holder) ?? 0;
    if (!this.#hasRoom(holder, held, bytes, before + bytes <= smallBytes)) return false;
    this.#heldBy.set(holder, held + bytes);
    this.#heldBytes += bytes;
    return true;
  }

  /**
   * One holder may hold as much as it leaves free: half of all where it is alone, a third where two are greedy. So
   * nobody's requests can take everybody's room.
   */
  #hasRoom(holder: string, held: number, bytes: number, isSmall: boolean): boolean {
    const free = this.#maxBytes - this.#heldBytes - bytes;
    if (free < 0) return false;
    if (holder !== strangers) return isSmall || held + bytes <= free;
    return held + bytes <= (isSmall ? maxStrangersBytes : maxStrangersLargeBytes);
  }

  /** Counts bytes of one holder to another. */
  handOver(from: string, to: string, bytes: number): boolean {
    this.giveBack(from, bytes);
    if (this.take(to, bytes, 0)) return true;
    this.#heldBy.set(from, (this.#heldBy.get(from) ?? 0) + bytes);
    this.#heldBytes += bytes;
    return false;
  }

  giveBack(holder: string, bytes: number): void {
    const held = (this.#heldBy.get(holder) ?? 0) - bytes;
    if (held === 0) this.#heldBy.delete(holder);
    else this.#heldBy.set(holder, held);
    this.#heldBytes -= bytes;
  }

  /** Memory of exactly `bytes`; its content is anything. */
  allocate(bytes: number): Buffer<ArrayBuffer> {
    return (bytes === pooledBytes && this.#pool.pop()) || Buffer.allocUnsafeSlow(bytes);
  }

  free(memory: Buffer<ArrayBuffer>): void {
    if (memory.length !== pooledBytes || this.#pool.length >= maxPooled) freeMemory(memory);
    else this.#pool.push(memory);
  }
}

/** The memory of one request. `during` ends it; a connection of plain requests uses its own for one after the other. */
export class Lease {
  readonly #memory: RequestMemory;
  readonly #buffers: Buffer<ArrayBuffer>[] = [];
  #holder = strangers;
  #bytes = 0;

  constructor(memory: RequestMemory) {
    this.#memory = memory;
  }

  get holder(): string {
    return this.#holder;
  }

  /** Says who holds all that is taken from now on. Throws where something is held. */
  claim(holder: string): void {
    if (this.#bytes > 0) throw new Error('a lease that holds memory cannot change hands');
    this.#holder = holder;
  }

  /** What is held counts to `holder` from now on; false, and nothing changes, where it has no room. */
  handOver(holder: string): boolean {
    if (!this.#memory.handOver(this.#holder, holder, this.#bytes)) return false;
    this.#holder = holder;
    return true;
  }

  /** Counts memory that lies elsewhere; false where there is no room. */
  take(bytes: number): boolean {
    if (!this.#memory.take(this.#holder, bytes, this.#bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Counted memory until it is freed or the lease ends; undefined where there is no room. */
  allocate(bytes: number): Buffer<ArrayBuffer> | undefined {
    if (!this.take(bytes)) return undefined;
    const buffer = this.#memory.allocate(bytes);
    this.#buffers.push(buffer);
    return buffer;
  }

  /** Gives memory of `allocate` back before the lease ends. */
  free(buffer: Buffer<ArrayBuffer>): void {
    const index = this.#buffers.indexOf(buffer);
    if (index < 0) throw new Error('this memory is not of the lease');
    this.#buffers.splice(index, 1);
    this.#giveBack(buffer.length);
    this.#memory.free(buffer);
  }

  /** Gives everything back. Nobody may read the memory any more. */
  end(): void {
    this.#giveBack(this.#bytes);
    for (let buffer = this.#buffers.pop(); buffer !== undefined; buffer = this.#buffers.pop()) {
      this.#memory.free(buffer);
    }
    this.#holder = strangers;
  }

  #giveBack(bytes: number): void {
    if (bytes === 0) return;
    this.#memory.giveBack(this.#holder, bytes);
    this.#bytes -= bytes;
  }
}
