// `npm run load`: sends made-up events to a running instance, one's own or a remote one, and tells how many it
// acknowledged, how fast, and whether they are stored. Everything that it sends goes through the public interface.

import { once } from 'node:events';
import { runCommand } from '../demo/command.ts';
import { count, createProgress } from '../demo/progress.ts';
import { type Client, createClient } from '../demo/sending/client.ts';
import { systemClock } from '../platform/clock.ts';
import { checkInstance } from './checks.ts';
import { readPlan } from './plan.ts';
import {
  endLines,
  exitCodeOf,
  foundLines,
  type Outcome,
  reportObject,
  searchLine,
  stepLines,
  storedLine,
} from './report.ts';
import { findRate, type Load, prepareLoad, runStep, type Step } from './steps.ts';
import { countStored, type Sent, type Stored } from './stored.ts';

const readerConnections = 2;
const readerAttempts = 5;
/** The terminal and npm may both pass one Ctrl-C on. */
const repeatedSignalMs = 500;
const interruptedCode = 130;

await runCommand('load', async () => {
  const plan = readPlan(process.argv.slice(2));
  const out = plan.json ? process.stderr : process.stdout;
  const say = (line: string): void => void out.write(`${line}\n`);
  const { baseUrl } = plan.target;
  const client = createClient({
    baseUrl,
    connections: readerConnections,
    attempts: readerAttempts,
  });
  try {
    for (const warning of await checkInstance(client, plan.target)) say(warning);
    const load = prepareLoad(plan, interruption(), out);
    say(introduction(load));
    const sinceMs = systemClock.nowMs();
    const { steps, found } = await send(load, say);
    const sent = sentBy(load, steps, sinceMs);
    const stored = await storedOf(client, load, steps, sent);
    const interrupted = load.signal.aborted;
    const outcome: Outcome = { plan, sent, steps, found, stored, interrupted };
    if (plan.json) process.stdout.write(`${JSON.stringify(reportObject(outcome))}\n`);
    else say(storedLine(stored, sent));
    process.exitCode = exitCodeOf(outcome);
  } finally {
    await client.close();
  }
});

function introduction({ plan, eventKind }: Load): string {
  const { size, batch, connections, seconds, eventsPerSecond, target, find } = plan;
  const what = `${eventKind}: ${size} events, ${count(batch)} a request, at most ${count(connections)} connections to ${target.baseUrl}`;
  if (find !== undefined) {
    const listed = target.privateKey === '' ? '' : `, listed within ${count(find.listedMs)} ms`;
    return `${what}; steps of ${count(seconds)} s, until p99 passes ${count(find.p99Ms)} ms${listed}`;
  }
  const pace =
    eventsPerSecond === 0 ? 'as fast as it answers' : `${count(eventsPerSecond)} events/s`;
  return `${what}; ${pace}, for ${count(seconds)} s`;
}

async function send(
  load: Load,
  say: (line: string) => void,
): Promise<Pick<Outcome, 'steps' | 'found'>> {
  const { find, eventsPerSecond } = load.plan;
  if (find === undefined) {
    const step = await runStep(load, eventsPerSecond);
    for (const line of stepLines(step)) say(line);
    return { steps: [step], found: undefined };
  }
  const { steps, found } = await findRate(load, (step) => say(searchLine(step, find)));
  for (const line of steps.flatMap(({ result }) => endLines(result))) say(line);
  for (const line of foundLines(found)) say(line);
  return { steps, found };
}

/** Nothing is counted where List cannot know everything. */
async function storedOf(
  client: Client,
  { plan, signal, out }: Load,
  steps: readonly Step[],
  sent: Sent,
): Promise<Stored> {
  const last = steps.at(-1);
  if (signal.aborted) return { kind: 'not counted', why: 'interrupted' };
  if (last?.result.ended.kind === 'gone') return { kind: 'not counted', why: 'nobody answers' };
  if ((last?.listed?.missing ?? 0) > 0) {
    return { kind: 'not counted', why: 'marked events are still not listed' };
  }
  const progress = createProgress(out, sent.acknowledged);
  let isShown = false;
  const onProgress = (counted: number): void => {
    progress.show(counted, 'of the events found stored');
    isShown = true;
  };
  const stored = await Promise.race([
    countStored(client, plan.target, sent, onProgress, signal),
    once(signal, 'abort').then((): Stored => ({ kind: 'not counted', why: 'interrupted' })),
  ]);
  if (isShown) progress.end();
  return stored;
}

/** An answer of 5xx leaves open whether the events were queued. */
function sentBy({ plan, eventKind }: Load, steps: readonly Step[], sinceMs: number): Sent {
  const sum = (of: (step: Step) => number): number =>
    steps.reduce((all, step) => all + of(step), 0);
  const failed = ({ result }: Step): number =>
    Object.entries(result.answers).reduce(
      (all, [status, answers]) => (status.startsWith('5') ? all + answers : all),
      result.unanswered,
    );
  const acknowledged = sum(({ result }) => result.acknowledged);
  return { eventKind, acknowledged, unknown: plan.batch * sum(failed), sinceMs };
}

/** Aborted by the first Ctrl-C; a second one ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  let firstMs: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      firstMs ??= performance.now();
      if (performance.now() - firstMs > repeatedSignalMs) process.exit(interruptedCode);
      controller.abort();
    });
  }
  return controller.signal;
}
