// A data directory of the service that holds a shop: made once for each set of parameters and kept in a cache
// directory, so that the next run only starts the service on it.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { copyStopped } from '../../../test/harness/stopped-copy.ts';
import { check, type Mode, type Session } from '../../bench.ts';
import { untilMerged } from '../engine/merges.ts';
import { countRows } from '../load/stored-rows.ts';
import { startMeasuredStack } from '../processes/measured-stack.ts';
import { storeShopShare } from '../processes/processes.ts';
import { storeOlderCopies } from './older-copies.ts';
import type { Shop } from './shop.ts';
import { storePeople } from './shop-people.ts';

/** Counts the forms that the events had: shops of an older form are made anew. */
const form = 1;
/** On disk, with its part of all views and indexes. */
const bytesOfEvent = 220;
const noPast: Past = { olderCopies: 0 };
/** Where made shops stand unless MILLRACE_BENCH_DATA names another directory. */
const defaultDirectory = join(homedir(), '.cache', 'millrace-bench');

/** What a shop has besides its own days. */
export interface Past {
  /** Copies of all events in the stretches of time before them. */
  olderCopies: number;
}

/** The directory of the shop, which is made where there is none yet. `say` hears how far the making is. */
export async function openShop(
  shop: Shop,
  say: (line: string) => void,
  { olderCopies }: Past = noPast,
): Promise<string> {
  const parameters = olderCopies === 0 ? [form, shop] : [form, shop, olderCopies];
  const name = createHash('sha256').update(JSON.stringify(parameters)).digest('hex');
  const parent = process.env['MILLRACE_BENCH_DATA'] ?? defaultDirectory;
  const directory = join(parent, `shop-${shop.events * (1 + olderCopies)}-${name.slice(0, 12)}`);
  if (existsSync(join(directory, 'shop.json'))) return directory;
  const making = `${directory}.making`;
  rmSync(making, { recursive: true, force: true });
  checkRoom(parent, shop.events * (1 + olderCopies));
  if (olderCopies === 0) mkdirSync(making, { recursive: true });
  else copyStopped(await openShop(shop, say), making);
  const stack = await startMeasuredStack({ dataDir: making });
  try {
    if (olderCopies === 0) await storeShop(stack, shop, say);
    else await storeOlderCopies(stack, shop, olderCopies, say);
  } finally {
    await stack.stop();
  }
  writeFileSync(join(making, 'shop.json'), JSON.stringify(shop));
  renameSync(making, directory);
  return directory;
}

/** Throws where the disk has no room for so many events and for as much again, which merges need. */
function checkRoom(parent: string, events: number): void {
  mkdirSync(parent, { recursive: true });
  const { bavail, bsize } = statfsSync(parent);
  const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(0);
  const needed = 2 * bytesOfEvent * events;
  const free = bavail * bsize;
  check(free >= needed, `${events} events need ${gib(needed)} GiB in ${parent}, of ${gib(free)}`);
}

/** Runs on a service with the shop: in smoke runs the session's, which stores the shop once. */
export async function withShop<Result>(
  shop: Shop,
  mode: Mode,
  session: Session,
  run: (stack: Stack) => Promise<Result>,
  past: Past = noPast,
): Promise<Result> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  if (mode === 'smoke') {
    const stack = await session.stackWithShop((fresh) => storeShop(fresh, shop, () => {}));
    if (past.olderCopies > 0) await storeOlderCopies(stack, shop, past.olderCopies, () => {});
    return run(stack);
  }
  const dataDir = await openShop(shop, say, past);
  const stack = await startMeasuredStack({ dataDir, env: withoutLimits });
  try {
    await untilMerged(stack);
    return await run(stack);
  } finally {
    await stack.stop();
  }
}

/** The question is how soon an answer comes, not how many a key may ask for. */
export const withoutLimits = {
  MILLRACE_EVENTS_PER_SECOND: '0',
  MILLRACE_READS_PER_SECOND: '0',
  MILLRACE_LOG_LEVEL: 'warn',
} as const;

/** Stores a shop in the project of a running service; throws where a row is missing or too many. */
export async function storeShop(
  stack: Stack,
  shop: Shop,
  say: (line: string) => void,
): Promise<void> {
  const before = await countRows(stack);
  const startMs = performance.now();
  const step = Math.max(2, availableParallelism());
  const { clickhouseUrl, projectId } = stack;
  let stored = 0;
  const onStored = (): void => {
    stored += shop.batchEvents;
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(0);
    if (stored % 1_000_000 < shop.batchEvents) say(`${stored} events stored after ${seconds} s`);
  };
  const shares = Array.from({ length: step }, (_, first) =>
    storeShopShare({ clickhouseUrl, projectId, shop, first, step }, onStored),
  );
  await Promise.all(shares);
  await storePeople(clickhouseUrl, projectId, shop);
  check((await countRows(stack)) === before + shop.events, `${shop.events} more events are stored`);
  await untilMerged(stack);
  say(`made after ${((performance.now() - startMs) / 1_000).toFixed(0)} s`);
}
