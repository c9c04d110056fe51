// The load generator: autocannon's connections, each with a prepared body, and the decision when each of them sends.
// Without a rate a connection sends again as soon as it is answered. With one, requests are due at even intervals, and
// a request that finds no free connection has been waiting since it was due.

import autocannon from 'autocannon';
import { holdClient } from './held-client.ts';
import { createLaneNeeds, Lane, type LaneNeeds } from './lane.ts';
import { Latencies } from './latencies.ts';
import type { Marks } from './marks.ts';
import type { PreparedBody } from './prepared-body.ts';
import type { Ended, LoadResult } from './result.ts';

export interface LoadOptions {
  baseUrl: string;
  publicKey: string;
  /** One for each connection. */
  bodies: readonly PreparedBody[];
  seconds: number;
  /** 0: each connection as fast as it is answered. */
  requestsPerSecond: number;
  marks: Marks | undefined;
  /** Ends the sending; requests under way are still awaited. */
  signal: AbortSignal;
  /** Called ten times a second. */
  onProgress: (elapsedMs: number, acknowledgedEvents: number) => void;
}

const batchCreatePath = '/sdk.events.v1.EventsService/BatchCreate';
const timeoutSeconds = 15;
const connectWaitMs = 5_000;
/** Autocannon's own time: the run ends before. */
const spareSeconds = 120;
const stopIntervalMs = 20;
const progressMs = 100;
/** A sender that was refused sends no faster than this. Retry-After would let most connections sleep. */
const refusedPauseMs = 100;
const shownRefusalCharacters = 300;

/** Resolves when every request has its answer or none can come any more. Never rejects for what the instance does. */
export function runLoad(options: LoadOptions): Promise<LoadResult> {
  return new LoadRun(options).finished();
}

class LoadRun {
  readonly #options: LoadOptions;
  readonly #lanes: Lane[] = [];
  /** In the order in which they became idle: none stays idle until it times out. */
  readonly #idle = new Set<Lane>();
  readonly #needs: LaneNeeds;
  readonly #latencies = new Latencies();
  readonly #answers: Record<string, number> = {};
  #instance: autocannon.Instance | undefined;
  #started = false;
  #startMs = 0;
  #endMs = Number.POSITIVE_INFINITY;
  #lastAnswerMs = 0;
  #begun = 0;
  #busy = 0;
  #acknowledged = 0;
  #unanswered = 0;
  #refusal: string | undefined;
  #lastStatus = 0;
  /** Broken connections since the last answer. */
  #failures = 0;
  #ended: Ended | undefined;
  #timers: NodeJS.Timeout[] = [];
  #cpu = process.cpuUsage();
  #loop = performance.eventLoopUtilization();

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#needs = createLaneNeeds(options.marks);
  }

  finished(): Promise<LoadResult> {
    const { baseUrl, bodies, seconds, signal } = this.#options;
    const interrupt = (): void => this.#stopSending({ kind: 'interrupted' });
    return new Promise<LoadResult>((resolve, reject) => {
      const settings: autocannon.Options = {
        url: baseUrl + batchCreatePath,
        method: 'POST',
        connections: bodies.length,
        duration: connectWaitMs / 1_000 + seconds + timeoutSeconds + spareSeconds,
        timeout: timeoutSeconds,
        sampleInt: stopIntervalMs,
        setupClient: (client) => this.#addLane(client),
        verifyBody: (body) => this.#readAnswer(String(body)),
      };
      this.#instance = autocannon(settings, (error) => {
        for (const timer of this.#timers) clearTimeout(timer);
        if (error) reject(error);
        else resolve(this.#result());
      });
      this.#instance.on('reqError', (error) => this.#fail(describe(error)));
      this.#timers.push(setTimeout(() => this.#begin(), connectWaitMs));
      if (signal.aborted) interrupt();
      signal.addEventListener('abort', interrupt);
    }).finally(() => signal.removeEventListener('abort', interrupt));
  }

  #addLane(client: autocannon.Client): void {
    const body = this.#options.bodies[this.#lanes.length];
    if (body === undefined) throw new RangeError('a connection without a body');
    const headers = {
      'content-type': 'application/json',
      'connect-protocol-version': '1',
      'x-api-key': this.#options.publicKey,
      'user-agent': body.userAgent,
    };
    client.setHeadersAndBody(headers, body.bytes);
    client.on('response', (status) => this.#take(lane, status));
    const held = holdClient(client, {
      onFree: () => this.#proceed(lane),
      onBroken: () => this.#lose(lane),
      onUntrusted: (why) => this.#finish({ kind: 'gone', why: `certificate not trusted: ${why}` }),
    });
    const lane = new Lane(held, body, this.#needs);
    this.#lanes.push(lane);
  }

  /** The time begins when all connections stand; those that do not by then come later. */
  #begin(): void {
    if (this.#started || this.#ended !== undefined) return;
    if (this.#idle.size === 0) {
      this.#finish({ kind: 'gone', why: 'no connection' });
      return;
    }
    this.#started = true;
    this.#cpu = process.cpuUsage();
    this.#loop = performance.eventLoopUtilization();
    this.#startMs = performance.now();
    this.#lastAnswerMs = this.#startMs;
    const durationMs = 1_000 * this.#options.seconds;
    this.#endMs = this.#startMs + durationMs;
    this.#timers.push(setTimeout(() => this.#stopSending({ kind: 'time' }), durationMs));
    const progress = setInterval(() => {
      this.#options.onProgress(performance.now() - this.#startMs, this.#acknowledged);
    }, progressMs);
    this.#timers.push(progress);
    if (this.#options.requestsPerSecond > 0) this.#dispatch();
    else for (const lane of [...this.#idle]) this.#send(lane, performance.now());
  }

  #take(lane: Lane, status: number): void {
    const nowMs = performance.now();
    if (lane.state === 'busy') this.#busy--;
    lane.state = 'idle';
    this.#failures = 0;
    this.#lastAnswerMs = nowMs;
    this.#lastStatus = status;
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    lane.refused = status !== 200;
    if (!lane.refused) this.#latencies.record(nowMs - lane.dueMs);
    lane.settle(!lane.refused);
  }

  /** autocannon calls this for the answer whose status was seen last. */
  #readAnswer(body: string): boolean {
    if (this.#lastStatus === 200) {
      this.#acknowledged += Number(/"accepted":\s*(\d+)/.exec(body)?.[1] ?? 0);
    } else {
      this.#refusal ??= `${this.#lastStatus} ${body.slice(0, shownRefusalCharacters)}`;
    }
    return true;
  }

  /** A lane whose connection stands and has no request under way. */
  #proceed(lane: Lane): void {
    lane.state = 'idle';
    this.#idle.add(lane);
    if (!this.#started) {
      if (this.#idle.size === this.#options.bodies.length) this.#begin();
    } else if (this.#ended !== undefined || performance.now() >= this.#endMs) {
      this.#finishWhenQuiet();
    } else if (this.#options.requestsPerSecond === 0) {
      if (!lane.refused) this.#send(lane, performance.now());
      else setTimeout(() => this.#sendIfIdle(lane), refusedPauseMs);
    }
  }

  #sendIfIdle(lane: Lane): void {
    if (this.#ended === undefined && lane.state === 'idle') this.#send(lane, performance.now());
  }

  #dispatch(): void {
    if (this.#ended !== undefined) return;
    const nowMs = performance.now();
    for (const lane of this.#idle) {
      const dueMs = this.#startMs + (1_000 * this.#begun) / this.#options.requestsPerSecond;
      if (dueMs > nowMs || dueMs >= this.#endMs) break;
      this.#begun++;
      this.#send(lane, dueMs);
    }
    const nextMs = this.#startMs + (1_000 * this.#begun) / this.#options.requestsPerSecond;
    setTimeout(() => this.#dispatch(), Math.max(1, nextMs - performance.now()));
  }

  #send(lane: Lane, dueMs: number): void {
    this.#idle.delete(lane);
    this.#busy++;
    lane.send(dueMs);
  }

  #lose(lane: Lane): void {
    this.#idle.delete(lane);
    if (lane.state === 'busy') {
      this.#busy--;
      this.#unanswered++;
      lane.settle(false);
      this.#fail('it closed the connection');
    }
    lane.state = 'away';
    if (this.#ended !== undefined) this.#finishWhenQuiet();
  }

  #fail(why: string): void {
    this.#failures++;
    // A service that was killed refuses each connection once before anything else is known of it.
    if (this.#failures > 3 * this.#lanes.length + 10) this.#finish({ kind: 'gone', why });
  }

  #stopSending(ended: Ended): void {
    if (this.#started && this.#options.requestsPerSecond > 0) this.#dispatch();
    this.#ended ??= ended;
    this.#finishWhenQuiet();
  }

  #finishWhenQuiet(): void {
    if (this.#busy === 0) this.#finish({ kind: 'time' });
  }

  #finish(ended: Ended): void {
    if (ended.kind === 'gone') this.#ended = ended;
    else this.#ended ??= ended;
    this.#instance?.stop();
  }

  #result(): LoadResult {
    const { user, system } = process.cpuUsage(this.#cpu);
    const ended = this.#ended ?? { kind: 'time' };
    const { requestsPerSecond, seconds } = this.#options;
    const due = ended.kind === 'time' ? Math.ceil(requestsPerSecond * seconds) : 0;
    const endMs =
      ended.kind === 'time' ? Math.max(this.#endMs, this.#lastAnswerMs) : this.#lastAnswerMs;
    return {
      acknowledged: this.#acknowledged,
      answers: this.#answers,
      refusal: this.#refusal,
      unanswered: this.#unanswered + this.#busy,
      due,
      unsent: Math.max(0, due - this.#begun),
      latency: this.#latencies.summary(),
      elapsedMs: endMs - this.#startMs,
      ended,
      generator: {
        cpuMs: (user + system) / 1_000,
        busyShare: performance.eventLoopUtilization(this.#loop).utilization,
      },
    };
  }
}

/** One word for a broken connection. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
