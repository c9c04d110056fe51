// Makes the events of a body new before it is sent again, in place: building its text again would cost more than
// sending it. What pages and goods its visits see stays; who visits, in which session and when, does not. So no event
// comes twice, and what is stored is about as hard to compress as a real site's events.

import { createRandom, mix, type Random } from '../../../demo/visits/random.ts';
import type { Body } from './bodies.ts';

/** The people who visit. */
const people = 200_000;
const fifthRoot = (people + 1) ** 0.2;

/** Between two events of a body. */
const apartMs = 50;

export class FreshEvents {
  readonly #random: Random;
  readonly #stream: number;
  readonly #time = new TimeText();

  /** The same seed and stream make the same events of the same bodies; two streams have none in common. */
  constructor(seed: number, stream: number) {
    this.#random = createRandom(seed, stream);
    this.#stream = mix(stream + 1);
  }

  /**
   * Overwrites every id, the visitors and the sessions, and the times: the last event occurs at `timeMs`, each before
   * it 50 ms earlier. Events of one visit stay one visit, across bodies that have been sent equally often.
   */
  freshen(body: Body, timeMs: number): void {
    const { bytes, idOffsets, timeOffsets, visits } = body;
    const last = idOffsets.length - 1;
    for (let index = 0; index <= last; index++) {
      const random = this.#random;
      const [a, b, c, d] = [random.word(), random.word(), random.word(), random.word()];
      writeUuid(bytes, idOffsets[index] ?? 0, a, b, c, d);
      this.#time.write(bytes, timeOffsets[index] ?? 0, timeMs - (last - index) * apartMs);
    }
    for (const { seed, sessionOffset, distinctOffset } of visits) {
      const visit = mix(seed ^ mix(this.#stream + body.sent));
      writeUuid(bytes, sessionOffset, visit, mix(visit + 1), mix(visit + 2), seed);
      writeVisitor(bytes, distinctOffset, rankOf(mix(visit + 3)));
    }
    body.sent++;
  }
}

/** The rank of a visitor, from 0, by a uniform word: Zipf's law with the exponent 0.8, in its continuous form. */
function rankOf(word: number): number {
  const root = 1 + ((word >>> 0) / 0x1_0000_0000) * (fifthRoot - 1);
  return Math.floor(root * root * root * root * root) - 1;
}

const firstUser = 100_000;
const letterA = 0x61;

/** Over `user_` and six digits, or over `anon-` and a UUID: both have room for any visitor. */
function writeVisitor(bytes: Buffer, offset: number, rank: number): void {
  if (bytes[offset] === letterA) {
    writeUuid(bytes, offset + 5, mix(rank), mix(rank + 1e6), mix(rank + 2e6), mix(rank + 3e6));
  } else writeDigits(bytes, offset + 5, 6, firstUser + rank);
}

const hex = Buffer.from('0123456789abcdef');
/** Where the digits of a UUID's four words begin. */
const halves = [0, 4, 9, 14, 19, 24, 28, 32] as const;

function writeUuid(bytes: Buffer, at: number, a: number, b: number, c: number, d: number): void {
  for (let half = 0; half < halves.length; half++) {
    const word = half < 2 ? a : half < 4 ? b : half < 6 ? c : d;
    const bits = half % 2 === 0 ? word >>> 16 : word;
    const to = at + (halves[half] ?? 0);
    bytes[to] = hex[(bits >>> 12) & 15] ?? 0;
    bytes[to + 1] = hex[(bits >>> 8) & 15] ?? 0;
    bytes[to + 2] = hex[(bits >>> 4) & 15] ?? 0;
    bytes[to + 3] = hex[bits & 15] ?? 0;
  }
  bytes[at + 14] = hex[4] ?? 0;
  bytes[at + 19] = hex[8 | ((c >>> 28) & 3)] ?? 0;
}

function writeDigits(bytes: Buffer, at: number, count: number, value: number): void {
  let left = value;
  for (let place = at + count - 1; place >= at; place--) {
    bytes[place] = 0x30 + (left % 10);
    left = Math.floor(left / 10);
  }
}

const minuteMs = 60_000;
const textLength = 24;

/** Moments in RFC 3339. Most lie in the same minute as the moment before. */
class TimeText {
  #minute = Number.NaN;
  #text = Buffer.alloc(textLength);

  write(bytes: Buffer, at: number, timeMs: number): void {
    const whole = Math.floor(timeMs);
    const minute = Math.floor(whole / minuteMs);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#text = Buffer.from(new Date(minute * minuteMs).toISOString());
    }
    for (let place = 0; place < textLength; place++) bytes[at + place] = this.#text[place] ?? 0;
    const ms = whole - minute * minuteMs;
    writeDigits(bytes, at + 17, 2, Math.floor(ms / 1_000));
    writeDigits(bytes, at + 20, 3, ms % 1_000);
  }
}
