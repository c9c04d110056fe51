// BatchCreate bodies that are made once and sent many times. Before each send, event ids and times are written over the
// last ones, in place: building the text of a body again would cost more than sending it.

import { randomFillSync } from 'node:crypto';
import { type Size, sizedEvents } from '../../demo/visits/sized-events.ts';

export interface PreparedBody {
  bytes: Buffer;
  /** Where each event's id begins, 36 characters. */
  idOffsets: Uint32Array;
  /** Where each event's occurTime begins, 24 characters. */
  timeOffsets: Uint32Array;
  /** Where the first event's sessionId begins, 36 characters, and what it was made with. */
  sessionOffset: number;
  session: string;
  /** The User-Agent of one of the body's visitors. */
  userAgent: string;
}

interface BodyOptions {
  size: Size;
  /** Events in each body. */
  batch: number;
  count: number;
  /** The kind of every event. */
  kind: string;
  seed: number;
  nowMs: number;
}

/** Bodies of made-up visits; no two have an event in common. */
export function prepareBodies(options: BodyOptions): PreparedBody[] {
  const { size, batch, count, kind, seed, nowMs } = options;
  const { events, userAgents } = sizedEvents(size, batch * count, seed, nowMs);
  return Array.from({ length: count }, (_, index) => {
    const own = events.slice(index * batch, (index + 1) * batch);
    const bytes = Buffer.from(JSON.stringify({ events: own.map((event) => ({ ...event, kind })) }));
    const [sessionOffset = 0] = placesOf(bytes, '"sessionId":"', 1);
    return {
      bytes,
      idOffsets: placesOf(bytes, '"eventId":"', batch),
      timeOffsets: placesOf(bytes, '"occurTime":"', batch),
      sessionOffset,
      session: own[0]?.sessionId ?? '',
      userAgent: userAgents[index % userAgents.length] ?? '',
    };
  });
}

/** Where the values behind the first `count` of these members begin. */
function placesOf(bytes: Buffer, member: string, count: number): Uint32Array {
  let from = 0;
  return Uint32Array.from({ length: count }, () => {
    const at = bytes.indexOf(member, from);
    if (at < 0) throw new Error(`a body has fewer than ${count} of ${member}`);
    from = at + member.length;
    return from;
  });
}

const poolBytes = 65_536;
const idBytes = 16;
const hexDigits = Buffer.from('0123456789abcdef');
/** The first of four digits that a UUID's variant may be. */
const variant = 8;

/** Writes random UUIDs (version 4). Random bytes are drawn for thousands of them at once. */
export class FreshIds {
  readonly #pool = Buffer.alloc(poolBytes);
  #at = poolBytes;

  /** Overwrites the 36 characters at `offset`, whose hyphens are there already. */
  write(bytes: Uint8Array, offset: number): void {
    if (this.#at === poolBytes) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    let to = offset;
    for (let index = 0; index < idBytes; index++) {
      const byte = this.#pool[this.#at + index] ?? 0;
      if (index === 4 || index === 6 || index === 8 || index === 10) to++;
      bytes[to++] = hexDigits[byte >> 4] ?? 0;
      bytes[to++] = hexDigits[byte & 15] ?? 0;
    }
    bytes[offset + 14] = hexDigits[4] ?? 0;
    bytes[offset + 19] = hexDigits[variant | ((this.#pool[this.#at] ?? 0) & 3)] ?? 0;
    this.#at += idBytes;
  }
}

/** Every event gets a new id and occurs now; `occurTime` is an RFC 3339 text of 24 characters. */
export function freshen(body: PreparedBody, ids: FreshIds, occurTime: Uint8Array): void {
  const { bytes, idOffsets, timeOffsets } = body;
  for (let index = 0; index < idOffsets.length; index++) {
    ids.write(bytes, idOffsets[index] ?? 0);
    bytes.set(occurTime, timeOffsets[index] ?? 0);
  }
}

/** Moves the first event into another session; returns the event's id. */
export function setSession(body: PreparedBody, session: string): string {
  body.bytes.write(session, body.sessionOffset, 'latin1');
  const at = body.idOffsets[0] ?? 0;
  return body.bytes.toString('latin1', at, at + 36);
}
