// `npm run import -- access-log FILE`: sends a web server's own access log to a running instance as page_view events,
// with a private key, because they may be of any age. Reads the file as a stream; addresses stay on this machine.

import { openGeo } from '../ingest/caller/geo.ts';
import { systemClock } from '../platform/clock.ts';
import { readAccessLog } from './access-log/access-log.ts';
import { type ClientField, clientField } from './access-log/client-address.ts';
import { type Refusal, refusals } from './access-log/log-line.ts';
import {
  createMapper,
  type MapperOptions,
  type SkipReason,
  skipReasons,
} from './access-log/page-views.ts';
import { inTimeOrder, type TakenLine } from './access-log/time-order.ts';
import { readFlags, runCommand } from './command.ts';
import { eventLines, profileLines } from './present.ts';
import { count, createProgress } from './progress.ts';
import { type Client, createClient, RequestRefused } from './sending/client.ts';
import type { Delivery } from './sending/deliveries.ts';
import { readVisitor, type SentVisitor } from './sending/readable.ts';
import { type Sent, sendAll } from './sending/send.ts';
import { findTarget, type Target, targetOptions } from './sending/target.ts';
import type { Event } from './visits/event.ts';

const usage =
  'npm run import -- access-log FILE [--url URL] [--private-key PRV] [--data DIR] [--hostname NAME] [--scheme https] ' +
  '[--client-field N|last|NAME] [--query NAMES] [--geo-database FILE] [--secret TEXT] [--all]';
const batchEvents = 500;
const maxCountedVisitors = 100_000;
const connections = 4;
const shownBadLines = 3;
const shownEvents = 10;
const shownBadCharacters = 100;

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

await runCommand('import', async () => {
  const text = { type: 'string' } as const;
  const options = {
    ...{ ...targetOptions, hostname: text, scheme: text, secret: text },
    ...{ 'client-field': text, query: text, 'geo-database': text },
    all: { type: 'boolean' },
  } as const;
  const { values: flags, positionals } = readFlags({ options, allowPositionals: true }, usage);
  const [format, path, ...more] = positionals;
  if (format !== 'access-log' || path === undefined || more.length > 0) {
    throw new RequestRefused(`usage: ${usage}`);
  }
  const found = findTarget(flags, ['privateKey']);
  if (found.kind === 'refused') throw new RequestRefused(found.why);
  const { target } = found;
  const client = createClient({ baseUrl: target.baseUrl, connections });
  try {
    await client.checkReady();
    const field = flags['client-field'];
    await importLog(
      client,
      target,
      { path, client: field && clientField(field) },
      {
        // The same key gives the same ids; a project whose key changes keeps its visitors with --secret.
        secret: flags.secret ?? target.privateKey,
        hostname: flags.hostname ?? 'localhost',
        scheme: flags.scheme,
        all: flags.all ?? false,
        query: flags.query,
        locate: openPlaces(flags['geo-database']),
        nowMs: systemClock.nowMs(),
      },
    );
  } finally {
    await client.close();
  }
});

function openPlaces(file: string | undefined): MapperOptions['locate'] {
  if (file === undefined) return undefined;
  try {
    return openGeo(file);
  } catch (error) {
    throw new RequestRefused(error instanceof Error ? error.message : String(error));
  }
}

/** Of one visitor, so far. */
interface Counted {
  events: number;
  firstMs: number;
  lastMs: number;
}

interface Source {
  path: string;
  client: ClientField | undefined;
}

interface Tally {
  lines: number;
  bots: number;
  withoutAgent: number;
  /** By reason, how many lines and the first of them. */
  bad: Map<Refusal, { count: number; first: { number: number; text: string }[] }>;
  skipped: Record<SkipReason, number>;
  /** The visitor with the most events, bots left out. */
  busiest: SentVisitor | undefined;
}

async function importLog(
  client: Client,
  target: Target,
  source: Source,
  options: MapperOptions,
): Promise<void> {
  const tally: Tally = {
    ...{ lines: 0, bots: 0, withoutAgent: 0, bad: new Map() },
    skipped: { method: 0, status: 0, asset: 0, time: 0 },
    busiest: undefined,
  };
  const progress = createProgress(process.stdout, undefined);
  const sent = await sendAll(readDeliveries(source, options, tally), {
    ...{ client, target, connections, eventsPerSecond: 0 },
    onProgress: (done, elapsedMs) =>
      progress.show(done, `events, ${count((1_000 * done) / elapsedMs)} a second`),
  }).catch((error) => {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new RequestRefused(`${source.path} cannot be read: ${error.message}`);
  });
  progress.end();
  summarise(tally, sent);
  if (sent.acknowledged === 0) throw new RequestRefused(nothingTaken(tally));
  await showBusiest(client, target, tally, sent);
}

async function* readDeliveries(
  source: Source,
  options: MapperOptions,
  tally: Tally,
): AsyncGenerator<Delivery> {
  const map = createMapper(options);
  const perVisitor = new Map<string, Counted>();
  let events: Event[] = [];
  for await (const { line, text } of inTimeOrder(takenLines(source, tally))) {
    const mapped = map(line, text);
    if (mapped.kind === 'skipped') {
      tally.skipped[mapped.why]++;
      continue;
    }
    if (line.userAgent === undefined) tally.withoutAgent++;
    if (mapped.bot) tally.bots++;
    else countVisitor(mapped.event, perVisitor, tally);
    events.push(mapped.event);
    if (events.length < batchEvents) continue;
    yield { credential: 'private', events };
    events = [];
  }
  if (events.length > 0) yield { credential: 'private', events };
}

async function* takenLines({ path, client }: Source, tally: Tally): AsyncGenerator<TakenLine> {
  for await (const read of readAccessLog(path, client)) {
    tally.lines++;
    if (read.kind === 'line') {
      yield read;
      continue;
    }
    const { why, number, text } = read;
    const refused = tally.bad.get(why) ?? { count: 0, first: [] };
    refused.count++;
    if (refused.first.length < shownBadLines) refused.first.push({ number, text });
    tally.bad.set(why, refused);
  }
}

// Only chooses the visitor to show: of a log with more visitors, the busiest of the counted ones is shown.
function countVisitor(event: Event, perVisitor: Map<string, Counted>, tally: Tally): void {
  const { distinctId, occurTime } = event;
  const timeMs = Date.parse(occurTime);
  const known = perVisitor.get(distinctId);
  const visitor = {
    events: (known?.events ?? 0) + 1,
    firstMs: Math.min(known?.firstMs ?? timeMs, timeMs),
    lastMs: Math.max(known?.lastMs ?? timeMs, timeMs),
  };
  if (known !== undefined || perVisitor.size < maxCountedVisitors) {
    perVisitor.set(distinctId, visitor);
  }
  if (visitor.events <= (tally.busiest?.events ?? 0)) return;
  const { events, ...range } = visitor;
  tally.busiest = { distinctId, events, by: { kind: 'range', ...range } };
}

function summarise(tally: Tally, sent: Sent): void {
  const rate = count((1_000 * sent.acknowledged) / sent.elapsedMs);
  say(
    `${count(tally.lines)} lines read, ${count(sent.acknowledged)} events acknowledged, ${rate} a second`,
  );
  say(`${count(tally.bots)} of them by bots (marked $bot)`);
  const meaning: Record<SkipReason, string> = {
    method: 'not a GET',
    status: 'redirects and errors',
    asset: 'images, styles, scripts and other files',
    time: 'before 2000 or in the future',
  };
  for (const why of skipReasons) {
    if (tally.skipped[why] > 0) say(`${count(tally.skipped[why])} left out: ${meaning[why]}`);
  }
  for (const [why, refused] of tally.bad) {
    say(`${count(refused.count)} left out: ${refusals[why]}`);
    for (const { number, text } of refused.first)
      say(`  line ${number}: ${text.slice(0, shownBadCharacters)}`);
  }
  if (tally.withoutAgent > 0) {
    say(`${count(tally.withoutAgent)} without a user agent: visitors behind one address are one`);
  }
  say('The same file again within 48 hours stores nothing twice; later it would.');
}

/** The remedy of most lines. */
function nothingTaken({ lines, bad }: Tally): string {
  const [most] = [...bad].sort(([, one], [, other]) => other.count - one.count);
  if (lines === 0) return 'no line was taken: the file has none';
  if (most === undefined)
    return 'no line was taken: none is a page view (--all sends the others, too)';
  return `no line was taken: ${count(most[1].count)} of ${count(lines)} are ${refusals[most[0]]}`;
}

async function showBusiest(
  client: Client,
  target: Target,
  { busiest }: Tally,
  { lastMs }: Sent,
): Promise<void> {
  if (busiest === undefined) return;
  const { profile, latest } = await readVisitor(client, busiest, shownEvents, target.privateKey);
  const waitedSeconds = ((performance.now() - lastMs) / 1_000).toFixed(2);
  say(`the visitor below could be read whole ${waitedSeconds} s after the last acknowledgement`);
  const lines = [
    '',
    'The busiest visitor',
    ...profileLines(profile, busiest.distinctId),
    '',
    'Latest events',
  ];
  for (const line of [...lines, ...eventLines(latest)]) say(line);
}
