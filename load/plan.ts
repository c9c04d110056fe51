// The flags of `npm run load`, read and refused before anything is sent.

import { readFlags, wholeNumber } from '../demo/command.ts';
import { count } from '../demo/progress.ts';
import { RequestRefused } from '../demo/sending/request-refused.ts';
import { findTarget, type Target, targetOptions } from '../demo/sending/target.ts';
import { type Size, sizes } from '../demo/visits/sized-events.ts';
import { maxEventsPerRequest } from '../platform/limits.ts';
import { isLoopbackHost } from '../platform/private-networks.ts';
import type { Bounds } from './find-rate.ts';

export interface Plan {
  /** Its private key is empty where none is known: then nothing can be listed. */
  target: Target;
  size: Size;
  batch: number;
  connections: number;
  /** Of one step, where a rate is to be found. */
  seconds: number;
  /** 0: as fast as the instance answers. The first of the steps, where a rate is to be found. */
  eventsPerSecond: number;
  /** Undefined unless the highest rate within these bounds is to be found. */
  find: Bounds | undefined;
  json: boolean;
}

export const usage =
  'npm run load -- [--url URL] [--key PUB] [--private-key PRV] [--data DIR] [--rate EVENTS_A_SECOND] [--batch N] ' +
  '[--connections N] [--seconds N] [--size small|medium|large] [--find [--p99-ms N] [--listed-ms N]] [--json] [--yes]';

export const maxEventsPerSecond = 10_000_000;
const maxConnections = 1_000;
const maxSeconds = 3_600;
const maxPreparedBytes = 268_435_456;
/** A little above what sized-events.ts makes. */
const bytesPerEvent: Readonly<Record<Size, number>> = { small: 300, medium: 700, large: 3_200 };

const defaults = { connections: 16, batch: 100, seconds: 10, stepSeconds: 5, firstRate: 1_000 };
const defaultBounds: Bounds = { p99Ms: 100, listedMs: 5_000 };

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const options = {
  ...targetOptions,
  ...{ rate: text, batch: text, connections: text, seconds: text, size: text },
  ...{ 'p99-ms': text, 'listed-ms': text },
  ...{ find: flag, json: flag, yes: flag },
} as const;

/** Throws a RequestRefused with one sentence for the person at the terminal. */
export function readPlan(args: readonly string[]): Plan {
  const flags = readFlags({ args: [...args], options }, usage).values;
  const target = readTarget(flags);
  if (!isOnThisMachine(target.baseUrl) && flags.yes !== true) {
    throw new RequestRefused(
      `${target.baseUrl} is not this machine: the events stay there, and others may feel the load; ` +
        'add --yes if you may do that',
    );
  }
  const find = flags.find ?? false;
  const rate = wholeNumber('--rate', flags.rate, 0, 1, maxEventsPerSecond);
  const eventsPerSecond = find && rate === 0 ? defaults.firstRate : rate;
  const batch = readBatch(flags.batch, eventsPerSecond);
  const requestsPerSecond = Math.ceil(eventsPerSecond / batch);
  const asked = defaultOr('--connections', flags.connections, defaults.connections, maxConnections);
  const stepSeconds = find ? defaults.stepSeconds : defaults.seconds;
  const plan: Plan = {
    ...{ target, batch, eventsPerSecond },
    size: readSize(flags.size),
    // A connection that sent less than one request a second would time out.
    connections: eventsPerSecond === 0 || find ? asked : Math.min(asked, requestsPerSecond),
    seconds: defaultOr('--seconds', flags.seconds, stepSeconds, maxSeconds),
    find: readBounds(flags, find),
    json: flags.json ?? false,
  };
  refuseHuge(plan);
  return plan;
}

interface KeyFlags {
  url?: string | undefined;
  key?: string | undefined;
  'private-key'?: string | undefined;
  data?: string | undefined;
}

/** Keys kept by `npm start` belong together, and to an instance on this machine: they are sent to no other. */
function readTarget(flags: KeyFlags): Target {
  const own = flags.key !== undefined;
  if (flags['private-key'] !== undefined && !own) {
    throw new RequestRefused('--private-key needs --key, the public key of the same project');
  }
  if (flags.key?.startsWith('prv_')) {
    throw new RequestRefused('--key takes a public key: a private one belongs to --private-key');
  }
  const privateKey = own ? (flags['private-key'] ?? '') : undefined;
  const wanted = { ...flags, 'private-key': privateKey };
  const { baseUrl } = found(wanted, []);
  if (!own && !isOnThisMachine(baseUrl)) {
    throw new RequestRefused(`${baseUrl} needs --key PUB, a public key of its own`);
  }
  return found(wanted, ['publicKey']);
}

function found(flags: KeyFlags, needs: readonly 'publicKey'[]): Target {
  const result = findTarget(flags, needs);
  if (result.kind === 'refused') throw new RequestRefused(result.why);
  return result.target;
}

function isOnThisMachine(baseUrl: string): boolean {
  return isLoopbackHost(new URL(baseUrl).hostname);
}

function defaultOr(name: string, given: string | undefined, fallback: number, max: number): number {
  return wholeNumber(name, given, fallback, 1, max);
}

function readBatch(given: string | undefined, eventsPerSecond: number): number {
  const slow = eventsPerSecond > 0 && eventsPerSecond < defaults.batch;
  const fallback = slow ? eventsPerSecond : defaults.batch;
  const batch = wholeNumber('--batch', given, fallback, 1, maxEventsPerRequest);
  if (eventsPerSecond === 0 || batch <= eventsPerSecond) return batch;
  throw new RequestRefused(
    `--rate counts events: ${count(eventsPerSecond)} a second is less than one request of --batch ${batch}`,
  );
}

function readSize(given: string | undefined): Size {
  const size = sizes.find((name) => name === (given ?? 'medium'));
  if (size === undefined) throw new RequestRefused(`--size must be ${sizes.join(', ')}`);
  return size;
}

function readBounds(
  flags: { 'p99-ms'?: string | undefined; 'listed-ms'?: string | undefined },
  find: boolean,
): Bounds | undefined {
  const p99 = flags['p99-ms'];
  const listed = flags['listed-ms'];
  if (!find && (p99 ?? listed) !== undefined) {
    throw new RequestRefused('--p99-ms and --listed-ms are the bounds of --find');
  }
  if (!find) return undefined;
  return {
    p99Ms: defaultOr('--p99-ms', p99, defaultBounds.p99Ms, 60_000),
    listedMs: defaultOr('--listed-ms', listed, defaultBounds.listedMs, 60_000),
  };
}

function refuseHuge({ connections, batch, size }: Plan): void {
  if (connections * batch * bytesPerEvent[size] <= maxPreparedBytes) return;
  throw new RequestRefused(
    `${count(connections)} connections with ${count(batch)} ${size} events each need more than 256 MiB: lower one of them`,
  );
}
