// Events on their way: collected for a second, sent until the service has them, kept over navigations where the visitor
// allows it. A repetition has the same event ids, so that the service counts it once.

import { read, target, write } from './device.ts';

/** Path below the one of events, the event's or the request's JSON, when it was made, whether it outlives the page. */
type Item = [path: string, json: string, madeMs: number, isSafe?: boolean];

const maxQueued = 200;
/** Of events, where nothing else bounds them. */
const maxBatch = 40;
const maxBatchCharacters = 200_000;
/** So much may be on its way when a page ends, beside its beacons: browsers let 64 KiB of a page outlive it. */
const maxKeptAliveBytes = 20_000;
/** So many events, or characters, are sent at once. */
const enough = 20;
const enoughCharacters = 20_000;
const waitMs = 1_000;
/** Of the wait for another try: from two seconds to 32. Pages fail at different moments, so they need no chance. */
const maxDoublings = 5;
const answerMs = 30_000;
/** An hour less than the service knows an event id for: a later repetition would count twice. */
const maxAgeMs = 47 * 3_600_000;

let queue: Item[] = [];
/** What the request in flight holds. */
let sending: readonly Item[] = [];
/** This page's items in the stored queue: all others there belong to other tabs. */
let own: readonly Item[] = [];
let isKept = false;
let timer = 0;
let failures = 0;
let said = '';

/** In the console, once. */
export function say(sentence: string): void {
  // biome-ignore lint/suspicious/noConsole: a page has no other log.
  if (sentence !== said) console.warn(`millrace: ${sentence}`);
  said = sentence;
}

export function push(path: string, body: object): void {
  queue.push([path, JSON.stringify(body), Date.now()]);
  if (queue.length > maxQueued) say('queue full');
  store();
  // Together with what the page does next.
  if ((queue[enough - 1] || `${queue}`.length > enoughCharacters) && !failures) setTimeout(flush);
  else wait();
}

/** Keeps the queue over navigations from now on, with what earlier pages left, or in memory alone; or empties it. */
export function keep(wanted: boolean, emptied: boolean): void {
  isKept = wanted;
  if (wanted) queue.unshift(...stored());
  if (emptied) queue = [];
  store();
  wait();
}

export function flush(): void {
  clearTimeout(timer);
  timer = 0;
  queue = queue.filter(([, , madeMs]) => Date.now() - madeMs < maxAgeMs);
  if (sending[0] || !queue[0]) return;
  const [batch, url, body] = take(queue);
  sending = batch;
  const keepalive = new Blob([body]).size < maxKeptAliveBytes;
  mark(batch, keepalive);
  fetch(url, {
    method: 'POST',
    // A text: a browser asks for leave first where a page of another site sends JSON.
    body,
    keepalive,
    signal: AbortSignal.timeout?.(answerMs),
  })
    .then(async (answer) => done(batch, answer, await answer.text()))
    .catch(retry);
}

/** What a browser sends while the page ends. It stays in the queue, because no answer tells whether it came. */
export function beacon(): void {
  outlive(queue.filter((item) => !item[3]));
}

/** Half of what is too much for a beacon may not be, and a page that is only hidden can fetch what no beacon takes. */
function outlive(items: readonly Item[]): void {
  if (!items[0]) return;
  const [batch, url, body] = take(items);
  const half = batch.length >> 1;
  if (navigator.sendBeacon(url, body)) mark(batch, true);
  else if (half) {
    outlive(batch.slice(0, half));
    outlive(batch.slice(half));
  } else fetch(url, { method: 'POST', body }).catch(() => say('left before all was sent'));
  outlive(items.slice(batch.length));
}

function mark(items: readonly Item[], isSafe: boolean): void {
  for (const item of items) item[3] = isSafe;
}

/** The first items, of one path and of moderate length together. */
function take(items: readonly Item[]) {
  let path = '';
  let texts = '';
  let count = 0;
  for (const [other, json] of items) {
    if (count && (path || other || count >= maxBatch || texts.length > maxBatchCharacters)) break;
    path = other;
    texts += count++ ? `,${json}` : json;
  }
  const url = `${target.url}${path}?api_key=${target.key}&sent=${Date.now()}`;
  return [items.slice(0, count), url, path ? texts : `{"events":[${texts}]}`] as const;
}

function done(batch: readonly Item[], { status }: Response, text: string): void {
  // Events whose day's secret could not be read were left out of an accepted batch: they may come again.
  if (status === 429 || status > 499 || /salt_un/.test(text)) {
    retry();
    return;
  }
  const [, reason] = /Reason":{"(\w+)/.exec(text) ?? [];
  if (reason) say(`events dropped: ${reason}`);
  let wrong: Item | undefined;
  if (status > 399) {
    say(text);
    // A refusal names the event that is wrong; the others of its batch are sent again without it.
    wrong = batch[Number(/events\[(\d+)/.exec(text)?.[1])];
  }
  queue = queue.filter((item) => (wrong ? item !== wrong : !batch.includes(item)));
  sending = [];
  failures = 0;
  store();
  flush();
}

function retry(): void {
  mark(sending, false);
  sending = [];
  wait(waitMs * 2 ** Math.min(maxDoublings, ++failures));
}

function wait(ms = waitMs): void {
  timer ||= setTimeout(flush, ms);
}

/** The items of other pages. */
function stored(): Item[] {
  const known = [...own, ...queue].map(([, json]) => json);
  return ((read('q') ?? []) as Item[]).filter(([, json]) => !known.includes(json));
}

function store(): void {
  queue = queue.slice(-maxQueued);
  if (isKept) write('q', [...stored(), ...queue]);
  own = queue;
}
