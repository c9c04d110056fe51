// What happens to a service while SDKs send: it starts again behind its ports, something in front of it answers 503, or
// no connection is accepted. Each SDK tracks one event meanwhile, and one afterwards.

import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../clients/client.ts';
import { keeperOf, killService, type Stack, signalProcess } from '../servers/stack.ts';
import type { BusyServer } from './busy-server.ts';
import type { Player } from './player.ts';

export type OutageName = 'restart' | 'busy' | 'closed';

/** When an event was tracked: not before the one moment, and before the other. */
export interface Tracked {
  fromMs: number;
  beforeMs: number;
}

/** By the event's name: `in_busy`, `after_busy`. */
export type TrackedEvents = Map<string, Tracked>;

interface Outage {
  name: OutageName;
  begin(): Promise<void>;
  end(): Promise<void>;
  /** Whether the SDK's event came to where the outage is. */
  hasMet(player: Player): boolean;
  /** Lasts for at least this long. */
  lastsMs: number;
}

const outageMs = 10_000;
const waitMs = 120_000;

/** Over a killed service, which its keeper starts again, connections wait. */
export function restartOf(stack: Stack, players: readonly Player[]): Outage {
  const keeper = keeperOf(stack);
  let before = new Map<string, number>();
  return {
    name: 'restart',
    async begin() {
      signalProcess(keeper, 'SIGSTOP');
      await killService(stack);
      await hangUp(players);
      before = new Map(players.map(({ sdk, gate }) => [sdk, gate.requests.length]));
    },
    async end() {
      signalProcess(keeper, 'SIGCONT');
    },
    hasMet: ({ sdk, gate }) => gate.requests.length > (before.get(sdk) ?? 0),
    lastsMs: 0,
  };
}

/** Ten seconds of 503. */
export function busyFor(busy: BusyServer, stack: Stack, players: readonly Player[]): Outage {
  let before = new Map<string, number>();
  return {
    name: 'busy',
    async begin() {
      before = new Map(players.map(({ sdk, gate }) => [sdk, gate.requests.length]));
      for (const { gate } of players) gate.turnTo(busy.url);
      await hangUp(players);
    },
    async end() {
      for (const { gate } of players) gate.turnTo(stack.baseUrl);
    },
    hasMet: ({ sdk, gate }) => gate.requests.length > (before.get(sdk) ?? 0),
    lastsMs: outageMs,
  };
}

/** Ten seconds in which every connection is closed without an answer. */
export function closedFor(players: readonly Player[]): Outage {
  let before = new Map<string, number>();
  return {
    name: 'closed',
    async begin() {
      before = new Map(players.map(({ sdk, gate }) => [sdk, gate.turnedAway()]));
      await hangUp(players);
      for (const { gate } of players) gate.close();
    },
    async end() {
      for (const { gate } of players) gate.open();
    },
    hasMet: ({ sdk, gate }) => gate.turnedAway() > (before.get(sdk) ?? 0),
    lastsMs: outageMs,
  };
}

/**
 * `keeps`: whether the SDK is to lose nothing. The outage lasts until each SDK that is to lose the event has spent its
 * tries, so that none of them is lucky; the next one begins when the others have the event stored.
 */
export async function playOutage(
  outage: Outage,
  players: readonly Player[],
  keeps: (player: Player, outage: OutageName) => boolean,
  tracked: TrackedEvents,
): Promise<void> {
  const { name } = outage;
  const [during, after] = [`in_${name}`, `after_${name}`];
  await outage.begin();
  const fromMs = Date.now();
  const inside = players.map((player) => ({ player, done: player.track(during) }));
  for (const { done } of inside) done.catch(() => {});
  await eventually(
    async () => players.filter((player) => !outage.hasMet(player)).map(({ sdk }) => sdk),
    (missing) => missing.length === 0,
    waitMs,
  ).catch((error: unknown) => Promise.reject(new Error(`${name}: ${String(error)}`)));
  await delay(outage.lastsMs);
  for (const { player, done } of inside) {
    if (!keeps(player, name)) await within(done, `${player.sdk} gives up in ${name}`);
  }
  tracked.set(during, { fromMs, beforeMs: Date.now() });
  await outage.end();
  const afterMs = Date.now();
  await Promise.all(
    players.map(async (player) => {
      await within(player.track(after), `${player.sdk} goes on after ${name}`);
      await hasStored(player, keeps(player, name) ? [during, after] : [after]);
    }),
  );
  tracked.set(after, { fromMs: afterMs, beforeMs: Date.now() });
}

/** What is missing in the end is told by the SDK's own test. */
async function hasStored({ customer }: Player, kinds: readonly string[]): Promise<void> {
  await eventually(
    () => customer.events(),
    (events) => kinds.every((kind) => events.some((event) => event['kind'] === kind)),
    waitMs,
  ).catch(() => {});
}

async function hangUp(players: readonly Player[]): Promise<void> {
  await Promise.all(players.map(({ gate }) => gate.hangUp()));
}

async function within(done: Promise<void>, what: string): Promise<void> {
  const timer = new AbortController();
  const late = delay(waitMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`not in ${waitMs} ms: ${what}`);
  });
  late.catch(() => {});
  await Promise.race([done, late]).finally(() => timer.abort());
}
