// Takes the turns of all alerts, reports or kept exports when they are due. Every process that answers questions does
// it: the lease in a record gives each turn to one of them. What a turn does, and when the next one is, is its taker's.

import { everyBeat } from '../broker/beat.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

interface TurnsOptions<T> {
  /** In a log: "alert". */
  noun: string;
  all(): readonly T[];
  /** Another name after each change by a person: then the next turn is at once. */
  nameOf(one: T): string;
  organizationOf(one: T): string;
  /** Resolves with the moment of its next turn. */
  take(one: T): Promise<number>;
  /** Turns that are taken at once; two unless given. */
  atOnce?: number;
  clock: Clock;
  log: Log;
}

export interface Turns {
  /** Takes the turns that are due; by itself it does so every second. Resolves when they are taken. */
  tick(): Promise<void>;
  /** Turns under way get some seconds: others go on with what they leave. */
  stop(): Promise<void>;
}

const tickEveryMs = 1_000;
/** The engine's turns leave the rest to people. */
const usualAtOnce = 2;
const failedAgainMs = 30_000;
const graceMs = 5_000;

export function runTurns<T>(options: TurnsOptions<T>): Turns {
  const { noun, all, nameOf, organizationOf, take, clock, log } = options;
  /** When the next turn is, by name. */
  let dueMs = new Map<string, number>();
  const busy = new Set<string>();
  const underWay = new Set<Promise<void>>();
  let running = 0;

  const run = async (one: T): Promise<void> => {
    const organizationId = organizationOf(one);
    busy.add(organizationId);
    try {
      const nextMs = await take(one);
      dueMs.set(nameOf(one), nextMs);
    } catch (error) {
      dueMs.set(nameOf(one), clock.nowMs() + failedAgainMs);
      log.warn({ err: error, [noun]: nameOf(one) }, `a turn of the ${noun} failed`);
    } finally {
      busy.delete(organizationId);
    }
  };
  const dueOf = (one: T): number => dueMs.get(nameOf(one)) ?? 0;
  const tick = async (): Promise<void> => {
    const free = (options.atOnce ?? usualAtOnce) - running;
    if (free === 0) return;
    const known = all();
    dueMs = new Map(known.map((one) => [nameOf(one), dueOf(one)]));
    const nowMs = clock.nowMs();
    const due = known
      .filter((one) => dueOf(one) <= nowMs)
      .sort((one, other) => dueOf(one) - dueOf(other));
    const worker = async (): Promise<void> => {
      running += 1;
      for (;;) {
        // One at once of an organization: the others have their turns. Another tick may have taken it meanwhile.
        const at = due.findIndex((one) => !busy.has(organizationOf(one)) && dueOf(one) <= nowMs);
        const [one] = at === -1 ? [] : due.splice(at, 1);
        if (one === undefined) break;
        await run(one);
      }
      running -= 1;
    };
    await Promise.all(Array.from({ length: free }, worker));
  };
  // A turn that takes long, as of a report whose mail server is slow, keeps its own place alone: the other is for
  // whoever comes due meanwhile.
  const stopTicking = everyBeat(tickEveryMs, () => {
    const ticked = tick()
      .catch((error: unknown) => log.warn({ err: error }, `no ${noun} has its turn`))
      .finally(() => underWay.delete(ticked));
    underWay.add(ticked);
  });
  return {
    tick,
    async stop() {
      stopTicking();
      let grace: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        grace = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.all(underWay), over]);
      clearTimeout(grace);
    },
  };
}
