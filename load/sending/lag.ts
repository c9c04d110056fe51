// How far the instance is behind while it is sent events: the lag of the project's shard, which ActivityService.Watch
// tells once a second. Where nobody may watch, or too many do, the run goes on without it.

import { request } from 'undici';
import type { Target } from '../../demo/sending/target.ts';
import { isObject } from '../../platform/json.ts';

export interface LagSummary {
  lastMs: number;
  medianMs: number;
  highestMs: number;
}

const path = '/shared.activity.v1.ActivityService/Watch';
/** Of the events themselves as few as can be: the totals are wanted. */
const asked = { samplePerSecond: 1, stages: ['WATCH_STAGE_DEAD'] };
const envelopeBytes = 5;
const endOfStream = 2;
const maxFrameBytes = 4 * 1_048_576;

export class LagWatch {
  readonly #stop = new AbortController();
  readonly #lagsMs: number[] = [];
  readonly #reading: Promise<void>;

  /** Begins to watch. */
  constructor(target: Target) {
    this.#reading = this.#read(target).catch(() => {});
  }

  /** Ends the stream; undefined where it told nothing. */
  async stop(): Promise<LagSummary | undefined> {
    this.#stop.abort();
    await this.#reading;
    const lastMs = this.#lagsMs.at(-1);
    if (lastMs === undefined) return undefined;
    const sorted = this.#lagsMs.toSorted((a, b) => a - b);
    const medianMs = sorted[Math.floor(sorted.length / 2)] ?? 0;
    return { lastMs, medianMs, highestMs: sorted.at(-1) ?? 0 };
  }

  async #read({ baseUrl, privateKey }: Target): Promise<void> {
    const json = Buffer.from(JSON.stringify(asked));
    const head = Buffer.alloc(envelopeBytes);
    head.writeUInt32BE(json.length, 1);
    const { body } = await request(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/connect+json', 'x-api-key': privateKey },
      body: Buffer.concat([head, json]),
      signal: this.#stop.signal,
    });
    let waiting = Buffer.alloc(0);
    for await (const chunk of body) {
      waiting = Buffer.concat([waiting, chunk]);
      for (;;) {
        if (waiting.length < envelopeBytes) break;
        const end = envelopeBytes + waiting.readUInt32BE(1);
        if (waiting[0] === endOfStream || end > maxFrameBytes) return;
        if (waiting.length < end) break;
        this.#take(JSON.parse(waiting.subarray(envelopeBytes, end).toString()));
        waiting = waiting.subarray(end);
      }
    }
  }

  #take(frame: unknown): void {
    const totals = isObject(frame) ? frame['totals'] : undefined;
    const lag = isObject(totals) ? totals['lag'] : undefined;
    const seconds = typeof lag === 'string' ? Number.parseFloat(lag) : Number.NaN;
    if (Number.isFinite(seconds)) this.#lagsMs.push(1_000 * seconds);
  }
}
