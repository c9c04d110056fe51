// The writer of events in simulated surroundings that fail in every way, with faults drawn from seeds. crash.test.ts
// has it on a real broker and engine.
// Takes some 35 seconds.

import { expect, it } from 'vitest';
import { projectMark } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { SessionModel } from '../../test/harness/models/session-model.ts';
import {
  type Faults,
  projects,
  room,
  SimulatedShard,
} from '../../test/harness/models/simulated-shard.ts';
import { startSimulatedWriter } from '../../test/harness/models/simulated-writer.ts';
import { visitorKey } from '../build/visitor-key.ts';

/** `MILLRACE_SEEDS` and `MILLRACE_FIRST_SEED` run more lives, or one of them again. */
const seeds = Number(process.env['MILLRACE_SEEDS'] ?? 300);
const firstSeed = Number(process.env['MILLRACE_FIRST_SEED'] ?? 1);
const atOnce = 40;
const timeoutMs = 600_000 + 1_000 * seeds;

it(
  `${seeds} simulated lives of a shard lose no event and store none twice`,
  async () => {
    let next = firstSeed;
    const failed: string[] = [];
    const lane = async () => {
      while (next < firstSeed + seeds) {
        const seed = next++;
        const outcome = await live(seed);
        if (outcome !== undefined) failed.push(`seed ${seed}: ${outcome}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, lane));
    expect(failed).toEqual([]);
  },
  timeoutMs,
);

/** One life of a shard with faults drawn from `seed`; returns the first thing that went wrong. */
async function live(seed: number): Promise<string | undefined> {
  const random = dice(seed);
  const faults: Faults = {
    lostAck: random() * 0.4,
    redelivery: random() * 0.5,
    skippedDelivery: random() * 0.3,
    bucketFails: random() * 0.3,
    bucketAnswerLost: random() * 0.3,
    insertFails: random() * 0.4,
    insertAnswerLost: random() * 0.4,
    viewFails: random() * 0.3,
  };
  const shard = new SimulatedShard(random, faults);
  const sent = traffic(random);
  const kills = random() * 0.02;
  const zombies = random() * 0.01;
  let writers = [startSimulatedWriter(shard)];
  let turn = 0;
  while (sent.frames.length > 0 || !shard.isEmpty) {
    if (shard.broken !== undefined) return shard.broken.message;
    if (++turn > 200_000) return `stuck in ${writers.at(-1)?.state()}`;
    const frame = random() < 0.2 ? sent.frames.shift() : undefined;
    if (frame !== undefined) shard.publish(frame);
    shard.deliver();
    // Faults stop in the end, so that the shard comes to rest.
    if (turn < 3_000 && random() < kills) {
      for (const writer of writers) writer.kill();
      writers = [startSimulatedWriter(shard)];
    } else if (turn < 3_000 && random() < zombies) {
      // The writer before goes on, and must find out by itself that it has lost the shard.
      writers.push(startSimulatedWriter(shard));
    }
    await new Promise(setImmediate);
  }
  for (const writer of writers) writer.kill();
  return findFault(shard, sent);
}

function findFault(shard: SimulatedShard, sent: Traffic): string | undefined {
  if (shard.broken !== undefined) return shard.broken.message;
  const rows = shard.rows.map(({ id }) => id).toSorted();
  const expected = [...sent.good].toSorted();
  if (JSON.stringify(rows) !== JSON.stringify(expected)) {
    return `${rows.length} rows of ${new Set(rows).size} events, ${expected.length} expected`;
  }
  for (const { id, sessionId } of shard.rows) {
    const session = sent.sessions.get(id) ?? id;
    if (sessionId !== session) return `event ${id} is in ${sessionId}, expected ${session}`;
  }
  if (JSON.stringify(shard.viewRows.toSorted()) !== JSON.stringify(expected))
    return 'the view differs';
  const letters = [...shard.letters.values()].reduce((sum, events) => sum + events, 0);
  if (letters !== sent.bad) return `${letters} dead letters, ${sent.bad} expected`;
  const delivered = [...shard.delivered.keys()].toSorted();
  if (JSON.stringify(delivered) !== JSON.stringify(expected.filter(isTold))) {
    return `${delivered.length} events delivered, not those that webhooks are for`;
  }
  const totals = shard.record?.totals;
  const books = {
    accepted: sent.events,
    stored: expected.length,
    duplicates: sent.events - expected.length - sent.bad,
    deadLetters: sent.bad,
  };
  if (JSON.stringify(totals) !== JSON.stringify(books)) return `books: ${JSON.stringify(totals)}`;
  return undefined;
}

interface Traffic {
  frames: Uint8Array[];
  good: Set<string>;
  bad: number;
  events: number;
  /** Expected sessions by event id, of events that name none. */
  sessions: Map<string, string>;
  model: SessionModel;
}

/**
 * Messages of a few events each: of two months, with retries of earlier events and with unreadable ones. Most are of
 * one project, which fills the queue; some are of several, and some do not say whose they are.
 */
function traffic(random: () => number): Traffic {
  const sent: Traffic = {
    frames: [],
    good: new Set(),
    bad: 0,
    events: 0,
    sessions: new Map(),
    model: new SessionModel(),
  };
  const messages = 5 + Math.floor(random() * 35);
  const ids = 10 + Math.floor(random() * 150);
  for (let message = 0; message < messages; message++) {
    const isMarked = random() < 0.9;
    const senders = random() < 0.2 ? [0, 1] : [random() < 0.6 ? 0 : 1 + Math.floor(random() * 2)];
    const requests = senders.map((sender) => {
      const projectId = projects[sender] ?? projects[0];
      const events = Array.from({ length: Math.floor(random() * 6) }, () =>
        eventOf(
          projectId,
          sender,
          Math.floor(random() * ids),
          random() < 0.05 ? 'bad' : 'good',
          sent,
        ),
      );
      sent.events += events.length;
      const context = {
        projectId,
        credential: 'private',
        receiveTimeMs: midnight,
        cookieless: { today: 'cookieless-new', yesterday: 'cookieless-old' },
      };
      return {
        context: JSON.stringify(context),
        body: Buffer.from(JSON.stringify({ events })),
        events: events.length,
        ...(isMarked && { project: projectMark(projectId) }),
      };
    });
    sent.frames.push(encodeFrame(requests));
  }
  return sent;
}

function eventOf(
  projectId: string,
  sender: number,
  number: number,
  quality: 'good' | 'bad',
  sent: Traffic,
): object {
  const id = `00000000-0000-4000-800${sender}-${String(number).padStart(12, '0')}`;
  const isBad = quality === 'bad';
  if (isBad) sent.bad++;
  else sent.good.add(id);
  const event = isBad ? { eventId: id, kind: '' } : about(id);
  if (number % 3 === 0) return visit(projectId, event, number, isBad ? undefined : sent);
  return {
    ...event,
    sessionId: id,
    distinctId: 'v',
    occurTime: number % 5 === 0 ? '2026-10-05T00:00:00Z' : '2026-11-05T00:00:00Z',
  };
}

/** Every second event is a message, and three quarters of those are in the room that webhooks are for. */
function about(id: string): { eventId: string; kind: string; customProperties?: object } {
  const number = Number(id.slice(-12));
  if (number % 2 === 0) return { eventId: id, kind: 'k' };
  const roomId = isTold(id) ? room : 'another';
  const customProperties = { room_id: { stringValue: roomId }, message_id: { stringValue: id } };
  return { eventId: id, kind: 'message_sent', customProperties };
}

function isTold(id: string): boolean {
  return [1, 3, 5].includes(Number(id.slice(-12)) % 8);
}

const midnight = Date.UTC(2026, 10, 20);

/** An event without a session, around midnight, of a user or of a cookieless visitor. A retry repeats all of it. */
function visit(
  projectId: string,
  event: { eventId: string },
  number: number,
  sent: Traffic | undefined,
): object {
  const timeMs = midnight + ((number * 7919) % 161) * 60_000 - 80 * 60_000;
  const isUser = number % 2 === 0;
  const [own, other] = timeMs < midnight ? ['old', 'new'] : ['new', 'old'];
  const hasOther = !isUser && Math.abs(timeMs - midnight) <= 30 * 60_000;
  const visitor = visitorKey(projectId, isUser ? 'u' : `cookieless-${own}`);
  if (sent !== undefined && !sent.sessions.has(event.eventId)) {
    const otherKey = hasOther ? visitorKey(projectId, `cookieless-${other}`) : undefined;
    sent.sessions.set(event.eventId, sent.model.assign(visitor, otherKey, timeMs));
  }
  const who = isUser ? { distinctId: 'u' } : { cookieless: true };
  return { ...event, ...who, occurTime: new Date(timeMs).toISOString() };
}

/** Random numbers from 0 to below 1 (Mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
