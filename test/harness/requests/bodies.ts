// Request bodies for the benches: the demo's own visits in three sizes, from a fixed seed. A body is made once; before
// it is sent, fresh-events.ts makes its events new in place.

import { type Size, sizedEvents } from '../../../demo/visits/sized-events.ts';

export interface Body {
  bytes: Buffer;
  /** Where each event's id begins. */
  idOffsets: Uint32Array;
  /** Where each event's occurTime begins, 24 characters. */
  timeOffsets: Uint32Array;
  /** Of each event, where the events are of visits. */
  visits: readonly VisitPlaces[];
  /** How often it was made new. */
  sent: number;
  /** The User-Agent of the body's visitor. */
  userAgent: string;
}

export interface VisitPlaces {
  /** A number that all events of the visit have, in every body. */
  seed: number;
  /** Where the session's id begins, 36 characters. */
  sessionOffset: number;
  /** Where the visitor's id begins: `user_` and six digits, or `anon-` and a UUID. */
  distinctOffset: number;
}

interface BodyOptions {
  size: Size;
  /** Events in each body. */
  batch: number;
  /** Number of bodies; they differ in every event. */
  count: number;
  seed: number;
  nowMs: number;
}

const idPlaceholder = '"eventId":"';
const timePlaceholder = '"occurTime":"';
const sessionPlaceholder = '"sessionId":"';
const distinctPlaceholder = '"distinctId":"';

export function makeBodies({ size, batch, count, seed, nowMs }: BodyOptions): Body[] {
  const { events, userAgents } = sizedEvents(size, batch * count, seed, nowMs);
  return Array.from({ length: count }, (_, index) => {
    const chosen = events.slice(index * batch, (index + 1) * batch);
    const body = bodyOf(chosen, userAgents[index % userAgents.length] ?? '');
    return { ...body, visits: visitsOf(body.bytes, batch) };
  });
}

/** Events of no visits. Throws where one has no eventId or occurTime. */
export function bodyOf(events: readonly object[], userAgent: string): Body {
  const bytes = Buffer.from(JSON.stringify({ events }));
  return {
    bytes,
    idOffsets: findAll(bytes, idPlaceholder, events.length),
    timeOffsets: findAll(bytes, timePlaceholder, events.length),
    visits: [],
    sent: 0,
    userAgent,
  };
}

function visitsOf(bytes: Buffer, batch: number): VisitPlaces[] {
  const distincts = findAll(bytes, distinctPlaceholder, batch);
  return Array.from(findAll(bytes, sessionPlaceholder, batch), (sessionOffset, index) => {
    const seed = Number.parseInt(bytes.toString('latin1', sessionOffset, sessionOffset + 8), 16);
    return { seed, sessionOffset, distinctOffset: distincts[index] ?? 0 };
  });
}

/** The body behind a head of `before`, to be written with one call. */
export function withHead(body: Body, before: Buffer): Body {
  const shift = (offset: number): number => offset + before.length;
  return {
    ...body,
    bytes: Buffer.concat([before, body.bytes]),
    idOffsets: body.idOffsets.map(shift),
    timeOffsets: body.timeOffsets.map(shift),
    visits: body.visits.map(({ seed, sessionOffset, distinctOffset }) => ({
      seed,
      sessionOffset: shift(sessionOffset),
      distinctOffset: shift(distinctOffset),
    })),
  };
}

function findAll(bytes: Buffer, placeholder: string, batch: number): Uint32Array {
  const offsets = new Uint32Array(batch);
  let from = 0;
  for (let index = 0; index < batch; index++) {
    const at = bytes.indexOf(placeholder, from);
    if (at < 0) throw new Error(`a body of ${batch} events has ${placeholder} ${index} times`);
    offsets[index] = at + placeholder.length;
    from = at + placeholder.length;
  }
  return offsets;
}
