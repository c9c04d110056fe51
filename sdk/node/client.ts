// The client for servers in Node, without dependencies: collects events into batches, and repeats what failed with the
// same ids, so that the service counts an event once. Reading is left to clients that are generated from
// /descriptors.binpb.

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type TrackedEvent, type TypedEvent, typedEvent } from './typed-event.ts';

export interface ClientOptions {
  /** Of the service, such as https://events.example.org. */
  url: string;
  /** A private key; a public one has place and browser derived from the caller. */
  key: string;
  /** A batch is sent at 100 events, or once its first one has waited for 1,000 ms, unless given. */
  flushAt?: number;
  flushMs?: number;
  /** What waits at most, in events and changes (10,000 unless given); beyond, `track` refuses. */
  maxQueued?: number;
  /** Tries of a request, the first included; without a bound they end after 47 hours. */
  attempts?: number;
  /** Packs bodies of a kilobyte and more; on unless it is false. */
  gzip?: boolean;
  /** Hears of what is lost: what the service refused, and what did not fit. */
  onDrop?: (events: number, why: string) => void;
  /** Called each time a request must be sent again. */
  onRetry?: () => void;
}

/** Why the service did not take a request, after all its tries. */
export class SendError extends Error {
  /** HTTP's; 0 where there was no answer. */
  readonly status: number;
  /** Connect's, or the system's. */
  readonly code: string;
  /** How long the answer asks to wait. */
  readonly afterMs: number;

  constructor(status: number, code: string, message: string, afterMs = 0) {
    super(message);
    this.status = status;
    this.code = code;
    this.afterMs = afterMs;
  }
}

const batchCreate = '/sdk.events.v1.EventsService/BatchCreate';
const identify = '/sdk.profiles.v1.ProfilesSDKService/Identify';
const alias = '/sdk.profiles.v1.ProfilesSDKService/Alias';

/** The service's own, and half of what it takes. */
const maxEventsPerRequest = 1_000;
const maxBatchBytes = 4 * 1_048_576;
const maxQueuedBytes = 64 * 1_048_576;
const minPackedBytes = 1_024;
const firstRetryMs = 100;
const maxRetryMs = 5_000;
const answerMs = 30_000;
/** An hour less than the service knows an event id for: a later repetition would count twice. */
const maxAgeMs = 47 * 3_600_000;

/** What programs write where they have no id. The service has the same. */
const placeholder =
  /^["'(<{[]?(undefined|null|nil|none|nan|n\/a|not set|not_authenticated|distinct_?id|object \w+|true|false|0|[0-]{36}|anonymous|guest|unknown|)[)>"'}\]]?$/i;

/** Nothing queued, or not known to be: the same ids again are counted once. 0 is no answer. */
const passing: readonly number[] = [0, 408, 429, 500, 502, 503, 504];

interface Item {
  path: string;
  json: string;
  /** As UTF-8, up to three for each character of the text. */
  bytes: number;
}

export const createClient = (options: ClientOptions): Client => new Client(options);

export class Client {
  /** Events and changes that were lost. */
  dropped = 0;
  readonly #options: ClientOptions;
  readonly #maxBatch: number;
  readonly #ending = new AbortController();
  #queue: Item[] = [];
  #queuedBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: ClientOptions) {
    this.#options = { ...options, url: options.url.replace(/\/+$/, '') };
    // Each request in flight listens.
    setMaxListeners(0, this.#ending.signal);
    this.#maxBatch = Math.min(options.flushAt ?? 100, maxEventsPerRequest);
  }

  /** False where the queue is full or the client closed: the event is dropped, and counted. */
  track(event: TrackedEvent): boolean {
    return this.#push(batchCreate, typedEvent(event));
  }

  /**
   * Sets traits of a user, and those of `traitsOnce` that are not there yet; `anonymousId`, which begins with anon-,
   * joins what they did before. False also where a placeholder would make strangers one person, which the service
   * refuses.
   */
  identify(change: {
    externalId: string;
    traits?: object;
    traitsOnce?: object;
    anonymousId?: string;
  }): boolean {
    const merges = change.anonymousId ? [change.externalId] : [];
    return this.#merge(merges) && this.#push(identify, change);
  }

  /** Joins two ids of one user; false also for an id that names nobody. */
  alias(change: { previousId: string; externalId: string }): boolean {
    return this.#merge([change.previousId, change.externalId]) && this.#push(alias, change);
  }

  /** Sends events at once, past the queue; returns how many were accepted. Throws a SendError. */
  async send(events: readonly TypedEvent[], userAgent?: string): Promise<number> {
    const answer = await this.#post(batchCreate, JSON.stringify({ events }), userAgent);
    return Number(answer['accepted'] ?? 0);
  }

  /** Resolves once all that was queued before is acknowledged or dropped. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendQueue().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** The same, for at most `withinMs`; the rest is dropped, and nothing is taken any more. */
  async close(withinMs = 10_000): Promise<void> {
    this.#isClosed = true;
    const deadline = setTimeout(() => this.#ending.abort(), withinMs);
    await this.flush();
    clearTimeout(deadline);
    if (this.#queue.length > 0) this.#drop(this.#queue.splice(0).length, 'the client was closed');
  }

  #drop(count: number, why: string): false {
    this.dropped += count;
    this.#options.onDrop?.(count, why);
    return false;
  }

  /** False where one of these ids, of which one is to become the other's, is a placeholder. */
  #merge(ids: readonly string[]): boolean {
    const wrong = ids.map(String).find((id) => placeholder.test(id.trim()));
    return wrong === undefined || this.#drop(1, `the id ${JSON.stringify(wrong)} names nobody`);
  }

  #push(path: string, body: object): boolean {
    if (this.#isClosed) return this.#drop(1, 'the client is closed');
    const json = JSON.stringify(body);
    const { maxQueued = 10_000, flushMs = 1_000 } = this.#options;
    const bytes = Buffer.byteLength(json);
    const isFull = this.#queuedBytes + bytes > maxQueuedBytes;
    if (isFull || this.#queue.length >= maxQueued) return this.#drop(1, 'the queue is full');
    this.#queue.push({ path, json, bytes });
    this.#queuedBytes += bytes;
    if (this.#queue.length >= this.#maxBatch) void this.flush();
    this.#timer ??= setTimeout(() => void this.flush(), flushMs);
    return true;
  }

  /** Empties the queue in order, one request at a time. */
  async #sendQueue(): Promise<void> {
    while (this.#queue.length > 0 && !this.#ending.signal.aborted) {
      const batch = firstOf(this.#queue, this.#maxBatch);
      const gone = new Set(await this.#sendBatch(batch));
      this.#queue = this.#queue.filter((item) => !gone.has(item));
      for (const { bytes } of gone) this.#queuedBytes -= bytes;
    }
  }

  /** Returns the items that need not be sent again. */
  async #sendBatch(batch: readonly Item[]): Promise<readonly Item[]> {
    const path = batch[0]?.path ?? '';
    const texts = batch.map(({ json }) => json).join();
    try {
      await this.#post(path, path === batchCreate ? `{"events":[${texts}]}` : texts);
      return batch;
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      // What is left when the client closes is told there.
      if (this.#ending.signal.aborted) return [];
      // A refusal names the event that is wrong; the others of its batch are sent again without it.
      const wrong = batch[Number(/^events\[(\d+)/.exec(error.message)?.[1])];
      const gone = error.status === 400 && wrong ? [wrong] : batch;
      this.#drop(gone.length, error.message);
      return gone;
    }
  }

  async #post(path: string, json: string, userAgent?: string): Promise<Record<string, unknown>> {
    const { attempts = Number.POSITIVE_INFINITY, onRetry } = this.#options;
    const isPacked = this.#options.gzip !== false && json.length >= minPackedBytes;
    const body = isPacked ? await promisify(gzip)(json) : json;
    const headers = {
      'content-type': 'application/json',
      'connect-protocol-version': '1',
      'x-api-key': this.#options.key,
      ...(isPacked && { 'content-encoding': 'gzip' }),
      ...(userAgent !== undefined && { 'user-agent': userAgent }),
    };
    const { signal } = this.#ending;
    const startMs = performance.now();
    for (let attempt = 1; ; attempt++) {
      const request = { method: 'POST', headers, body };
      // The service sets right what a wrong clock told, where the key is public.
      const answer = await ask(`${this.#options.url}${path}?sent=${Date.now()}`, request, signal);
      if (!(answer instanceof SendError)) return answer;
      const isLast = attempt >= attempts || performance.now() - startMs > maxAgeMs;
      if (isLast || !passing.includes(answer.status)) throw answer;
      onRetry?.();
      const backoffMs = Math.min(maxRetryMs, firstRetryMs * 2 ** (attempt - 1));
      await delay(Math.max(answer.afterMs, backoffMs), undefined, { signal }).catch(() => {});
      if (signal.aborted) throw answer;
    }
  }
}

/** One try: the answer's members, or why there are none. */
async function ask(
  url: string,
  request: RequestInit,
  ending: AbortSignal,
): Promise<Record<string, unknown> | SendError> {
  const abort = new AbortController();
  const end = (): void => abort.abort(new Error(`no answer within ${answerMs} ms`));
  const timer = setTimeout(end, answerMs);
  ending.addEventListener('abort', end);
  try {
    const answer = await fetch(url, { ...request, signal: abort.signal });
    return readAnswer(answer, await answer.text());
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const code = cause instanceof Error && 'code' in cause ? `${cause.code}` : '';
    return new SendError(0, code, cause instanceof Error ? cause.message : String(cause));
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', end);
  }
}

function readAnswer({ ok, status, headers }: Response, text: string) {
  const json = membersOf(text);
  // One day's secret could not be read: those events were left out, and may come again.
  const isPart = ok && text.includes('"salt_unavailable"');
  if (ok && !isPart) return json;
  const { code = '', message = text.slice(0, 200) } = json;
  const afterMs = Number(headers.get('retry-after')) * 1_000 || 0;
  return new SendError(isPart ? 503 : status, `${code}`, `${message}`, afterMs);
}

/** The first items of one path and of moderate length together; a change goes alone. */
function firstOf([first, ...others]: readonly Item[], most: number): Item[] {
  if (first === undefined || first.path !== batchCreate) return first ? [first] : [];
  let together = first.bytes;
  const end = others.slice(0, most - 1).findIndex(({ path, bytes }) => {
    together += bytes;
    return path !== batchCreate || together > maxBatchBytes;
  });
  return [first, ...others.slice(0, end < 0 ? most - 1 : end)];
}

function membersOf(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}
