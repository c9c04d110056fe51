// The load generator: bodies are made beforehand and made new in place, with one request at a time on each connection.
// It shares two cores with the measured service, so it spends as little as Node allows.

import type { Size } from '../../../demo/visits/sized-events.ts';
import { type Body, makeBodies, withHead } from '../../../test/harness/requests/bodies.ts';
import { FreshEvents } from '../../../test/harness/requests/fresh-events.ts';
import { makeMessageBody } from '../webhooks/messages.ts';
import { makeIdentifyBody, renumber } from './identify-calls.ts';
import { type Answer, type LoadConnection, openLoadConnection } from './load-connection.ts';

export interface LoadOptions {
  baseUrl: string;
  key: string;
  size: Size;
  batch: number;
  /** Sends Identify instead of BatchCreate, for users whose ids begin with this; size and batch then mean nothing. */
  identifyPrefix?: string;
  /** Sends one message at a time instead, body n to room n with key n; size, batch and key then mean nothing. */
  roomKeys?: readonly string[];
  /** Different bodies that a connection sends in rotation. */
  bodiesPerConnection: number;
  seed: number;
  /** Loads on one service have different numbers, and so no event in common. */
  load: number;
  connections: number;
  /** Load that is not counted, before the load that is. */
  warmUpMs: number;
  durationMs: number;
  /** Requests to begin each second, whether or not earlier ones are answered; 0: each connection as fast as it can. */
  requestsPerSecond: number;
  /** Records when each request was due and answered. */
  traced: boolean;
}

export interface LoadResult {
  /** Answers with 200 within the counted time. */
  requests: number;
  /** Events of all answers with 200, warm-up included: all of them must be found stored. */
  acknowledgedEvents: number;
  /** The same by body: first those of the first connection. */
  acknowledgedOfBody: number[];
  /** Answers other than 200, by status; they count nowhere else. */
  refused: Record<string, number>;
  countedMs: number;
  /** Milliseconds from the moment a request was due to its answer, counted requests only. */
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** CPU of this process over the counted time. */
  cpuMs: number;
  /** In the order of the answers, times in milliseconds since the epoch; empty unless traced. */
  trace: TracedRequest[];
}

export type TracedRequest = [dueMs: number, answeredMs: number, events: number];

/** Of the visits that bodies are made of; a body's events occur when it is sent. */
const nowMs = Date.UTC(2026, 10, 20, 12);
const refusedPauseMs = 20;
const minTickMs = 1;

/** Runs the load; rejects where a connection breaks or an answer is not one of ours. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { bodiesPerConnection } = options;
  const { roomKeys = [], key } = options;
  const bodies = bodiesOf(options).map((body, n) =>
    requestOf(body, { ...options, key: roomKeys[n] ?? key }),
  );
  const run = new LoadRun(options);
  for (let index = 0; index < options.connections; index++) {
    // A body belongs to one connection: it is never changed while it is being written.
    const mine = bodies.slice(index * bodiesPerConnection, (index + 1) * bodiesPerConnection);
    await run.open(mine);
  }
  return run.finished();
}

function bodiesOf(options: LoadOptions): Body[] {
  const { size, batch, seed, connections, bodiesPerConnection } = options;
  const { identifyPrefix, roomKeys } = options;
  const count = connections * bodiesPerConnection;
  if (roomKeys !== undefined) return Array.from({ length: count }, (_, n) => makeMessageBody(n));
  if (identifyPrefix === undefined) return makeBodies({ size, batch, count, seed, nowMs });
  return Array.from({ length: count }, () => makeIdentifyBody(identifyPrefix));
}

const batchCreatePath = '/sdk.events.v1.EventsService/BatchCreate';
const identifyPath = '/sdk.profiles.v1.ProfilesSDKService/Identify';

/** The body behind its request's head. */
function requestOf(body: Body, { baseUrl, key, identifyPrefix }: LoadOptions): Body {
  const path = identifyPrefix === undefined ? batchCreatePath : identifyPath;
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${new URL(baseUrl).host}\r\n` +
    `User-Agent: ${body.userAgent}\r\nContent-Type: application/json\r\nConnect-Protocol-Version: 1\r\n` +
    `X-Api-Key: ${key}\r\nContent-Length: ${body.bytes.length}\r\n\r\n`;
  return withHead(body, Buffer.from(head));
}

interface Lane {
  connection: LoadConnection;
  bodies: Body[];
  /** Acknowledged events by body. */
  acknowledged: number[];
  next: number;
  /** When the request under way was due. */
  dueMs: number;
}

class LoadRun {
  readonly #options: LoadOptions;
  readonly #lanes: Lane[] = [];
  #idle: Lane[] = [];
  readonly #fresh: FreshEvents;
  /** Identify calls so far. */
  #calls = 0;
  #begun = 0;
  #busy = 0;
  #startMs = 0;
  #countFromMs = 0;
  #endMs = 0;
  #cpuAtCount: NodeJS.CpuUsage | undefined;
  #ended = false;
  #resolve: (result: LoadResult) => void = () => {};
  #reject: (error: Error) => void = () => {};

  readonly #refused: Record<string, number> = {};
  readonly #latenciesMs: number[] = [];
  readonly #trace: TracedRequest[] = [];
  #acknowledgedEvents = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#fresh = new FreshEvents(options.seed, options.load);
  }

  async open(bodies: Body[]): Promise<void> {
    let lane: Lane | undefined;
    const connection = await openLoadConnection(this.#options.baseUrl, () => ({
      onAnswer: (answer) => lane && this.#take(lane, answer),
      onBroken: (error) => this.#fail(error),
    }));
    lane = { connection, bodies, acknowledged: bodies.map(() => 0), next: 0, dueMs: 0 };
    this.#lanes.push(lane);
  }

  finished(): Promise<LoadResult> {
    this.#startMs = now();
    this.#countFromMs = this.#startMs + this.#options.warmUpMs;
    this.#endMs = this.#countFromMs + this.#options.durationMs;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      for (const lane of this.#lanes) this.#proceed(lane);
      if (this.#options.requestsPerSecond > 0) this.#dispatch();
    });
  }

  #take(lane: Lane, { status, accepted }: Answer): void {
    const answeredMs = now();
    this.#busy--;
    if (status !== 200) {
      this.#refused[status] = (this.#refused[status] ?? 0) + 1;
      setTimeout(() => this.#proceed(lane), refusedPauseMs);
      return;
    }
    const events = this.#options.identifyPrefix === undefined ? accepted : 1;
    this.#acknowledgedEvents += events;
    const sent = (lane.next - 1) % lane.bodies.length;
    lane.acknowledged[sent] = (lane.acknowledged[sent] ?? 0) + events;
    if (this.#options.traced) this.#trace.push([lane.dueMs, answeredMs, events]);
    if (answeredMs >= this.#countFromMs && answeredMs < this.#endMs) {
      this.#latenciesMs.push(answeredMs - lane.dueMs);
    }
    this.#proceed(lane);
  }

  #proceed(lane: Lane): void {
    const timeMs = this.#tick();
    if (timeMs >= this.#endMs) this.#end();
    else if (this.#options.requestsPerSecond > 0) this.#idle.push(lane);
    else this.#send(lane, timeMs);
  }

  /** Requests are due at fixed times: one that must wait for a connection has been waiting since it was due. */
  #dispatch(): void {
    if (this.#ended) return;
    const intervalMs = 1_000 / this.#options.requestsPerSecond;
    const timeMs = this.#tick();
    const untilMs = Math.min(timeMs, this.#endMs);
    for (;;) {
      const dueMs = this.#startMs + this.#begun * intervalMs;
      // The connection that has been idle longest goes first: the server closes connections that idle too long.
      const lane = dueMs <= untilMs ? this.#idle.shift() : undefined;
      if (lane === undefined) break;
      this.#begun++;
      this.#send(lane, dueMs);
    }
    if (timeMs >= this.#endMs) this.#end();
    const nextMs = this.#startMs + this.#begun * intervalMs - timeMs;
    setTimeout(() => this.#dispatch(), Math.max(minTickMs, nextMs));
  }

  #send(lane: Lane, dueMs: number): void {
    const body = lane.bodies[lane.next++ % lane.bodies.length];
    if (body === undefined) throw new RangeError('a connection without bodies');
    if (this.#options.identifyPrefix === undefined) this.#fresh.freshen(body, dueMs);
    else renumber(body, this.#calls++);
    lane.dueMs = dueMs;
    this.#busy++;
    lane.connection.send(body.bytes);
  }

  #tick(): number {
    const timeMs = now();
    if (timeMs >= this.#countFromMs) this.#cpuAtCount ??= process.cpuUsage();
    return timeMs;
  }

  #fail(error: Error): void {
    this.#ended = true;
    for (const { connection } of this.#lanes) connection.close();
    this.#reject(error);
  }

  #end(): void {
    if (this.#ended || this.#busy > 0) return;
    this.#ended = true;
    const { user, system } = process.cpuUsage(this.#cpuAtCount);
    for (const { connection } of this.#lanes) connection.close();
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
    this.#resolve({
      requests: sorted.length,
      acknowledgedEvents: this.#acknowledgedEvents,
      acknowledgedOfBody: this.#lanes.flatMap(({ acknowledged }) => acknowledged),
      refused: this.#refused,
      countedMs: this.#options.durationMs,
      ...{ p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) },
      cpuMs: (user + system) / 1_000,
      trace: this.#trace,
    });
  }
}

// The same clock in all processes of the bench, finer than Date.now().
function now(): number {
  return performance.timeOrigin + performance.now();
}
