// `npm run demo`: plays ninety days of visits to a shop through the public interface of a running instance, then shows
// one visitor with its latest events. Sends nothing but made-up visits.

import { randomInt } from 'node:crypto';
import { systemClock } from '../platform/clock.ts';
import { readFlags, runCommand, wholeNumber } from './command.ts';
import { eventLines, profileLines } from './present.ts';
import { count, createProgress } from './progress.ts';
import { type Client, createClient } from './sending/client.ts';
import { deliveriesOf, maxServerEvents } from './sending/deliveries.ts';
import { readVisitor, type SentVisitor } from './sending/readable.ts';
import { RequestRefused } from './sending/request-refused.ts';
import { type Sent, sendAll } from './sending/send.ts';
import { findTarget, type Target, targetOptions } from './sending/target.ts';
import { createShownVisitor } from './shown-visitor.ts';
import { streamSeason } from './visits/season.ts';
import type { Visit } from './visits/walk.ts';
import { hearWebhook } from './webhooks/hear.ts';

const usage =
  'npm run demo -- [--url URL] [--private-key PRV] [--data DIR] [--events N] [--rate N] [--seed N] ' +
  '[--webhooks [--listener URL]]';
const defaultEvents = 100_000;
const connections = 16;
const shownEvents = 10;

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

await runCommand('demo', async () => {
  const text = { type: 'string' } as const;
  const own = { events: text, rate: text, seed: text, listener: text };
  const options = { ...targetOptions, ...own, webhooks: { type: 'boolean' } } as const;
  const flags = readFlags({ options }, usage).values;
  const found = findTarget(flags, ['privateKey']);
  if (found.kind === 'refused') throw new RequestRefused(found.why);
  const events = wholeNumber('--events', flags.events, defaultEvents, 1);
  const eventsPerSecond = wholeNumber('--rate', flags.rate, 0, 1);
  const seed = wholeNumber('--seed', flags.seed, randomInt(2 ** 32), 0);
  let retries = 0;
  const { baseUrl } = found.target;
  const client = createClient({ baseUrl, connections, onRetry: () => retries++ });
  try {
    await client.checkReady();
    const { data: dataDir = 'data', listener: listenerUrl } = flags;
    const untilHeard = flags.webhooks
      ? await hearWebhook({ baseUrl, dataDir, listenerUrl, say })
      : undefined;
    say(`playing ${count(events)} events of ninety days to ${baseUrl} (seed ${seed})`);
    const played = await play(client, found.target, { events, eventsPerSecond, seed });
    await report(client, found.target, played, retries);
    await untilHeard?.();
  } finally {
    await client.close();
  }
});

interface Played {
  sent: Sent;
  visits: number;
  shown: SentVisitor | undefined;
}

async function play(
  client: Client,
  target: Target,
  options: { events: number; eventsPerSecond: number; seed: number },
): Promise<Played> {
  const { events, eventsPerSecond, seed } = options;
  const nowMs = systemClock.nowMs();
  const stream = streamSeason({ seed, events, nowMs });
  let visits = 0;
  const shown = createShownVisitor();
  const onVisit = (visit: Visit): void => {
    visits++;
    shown.see(visit);
  };
  // At a rate, events come as from a site: a few at a time.
  const serverEvents =
    eventsPerSecond === 0
      ? maxServerEvents
      : Math.min(maxServerEvents, Math.ceil(eventsPerSecond / 10));
  const deliveries = deliveriesOf(stream, onVisit, serverEvents);
  const progress = createProgress(process.stdout, events);
  const onProgress = (done: number, elapsedMs: number): void =>
    progress.show(done, `${count((1_000 * done) / elapsedMs)} events/s`);
  const sent = await sendAll(deliveries, {
    ...{ client, target, connections, eventsPerSecond, onProgress },
  });
  progress.end();
  return { sent, visits, shown: shown.sent() };
}

async function report(
  client: Client,
  target: Target,
  { sent, visits, shown }: Played,
  retries: number,
): Promise<void> {
  const { acknowledged, requests, elapsedMs, lastMs } = sent;
  const again = retries === 0 ? '' : `, ${count(retries)} sent again`;
  say(
    `${count(acknowledged)} events of ${count(visits)} visits acknowledged in ${(elapsedMs / 1_000).toFixed(1)} s: ` +
      `${count((1_000 * acknowledged) / elapsedMs)} events/s in ${count(requests)} requests${again}`,
  );
  if (shown === undefined) return;
  const { profile, latest } = await readVisitor(client, shown, shownEvents, target.privateKey);
  const waitedSeconds = ((performance.now() - lastMs) / 1_000).toFixed(2);
  say(`the visitor below could be read whole ${waitedSeconds} s after the last acknowledgement`);
  say();
  for (const line of profileLines(profile, shown.distinctId)) say(line);
  say();
  say('Its latest events');
  for (const line of eventLines(latest)) say(line);
}
