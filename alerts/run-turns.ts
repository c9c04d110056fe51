// Looks at all alerts when they are due. Every process that answers questions does it: the lease in an alert's record
// gives each turn to one of them. What alerts there are is control/'s to change.

import { type TurnParts, takeTurn } from './looking/take-turn.ts';
import type { OwnedAlert, OwnedAlerts } from './owned-alerts.ts';

interface TurnsOptions extends Omit<TurnParts, 'upSinceMs'> {
  alerts: Pick<OwnedAlerts, 'all'>;
}

export interface Turns {
  /** Takes the turns that are due; by itself it does so every second. Resolves when they are taken. */
  tick(): Promise<void>;
  /** Turns under way get some seconds: others go on with what they leave. */
  stop(): Promise<void>;
}

const tickEveryMs = 1_000;
/** The engine's turns leave the rest to people. */
const turnsAtOnce = 2;
const failedAgainMs = 30_000;
const graceMs = 5_000;

export function runTurns(options: TurnsOptions): Turns {
  const { alerts, clock, log } = options;
  const parts: TurnParts = { ...options, upSinceMs: clock.nowMs() };
  /** When the next turn of an alert is, by its id and its last change. */
  let dueMs = new Map<string, number>();
  const busy = new Set<string>();
  const underWay = new Set<Promise<void>>();

  const run = async (owned: OwnedAlert): Promise<void> => {
    const { organizationId, alert } = owned;
    busy.add(organizationId);
    try {
      dueMs.set(nameOf(owned), await takeTurn(parts, owned));
    } catch (error) {
      dueMs.set(nameOf(owned), clock.nowMs() + failedAgainMs);
      log.warn({ err: error, alert: alert.id }, 'the turn of an alert failed');
    } finally {
      busy.delete(organizationId);
    }
  };
  const tick = async (): Promise<void> => {
    const nowMs = clock.nowMs();
    const all = alerts.all();
    const known = all.map(nameOf);
    dueMs = new Map(known.map((name) => [name, dueMs.get(name) ?? 0]));
    const due = all
      .filter((owned) => (dueMs.get(nameOf(owned)) ?? 0) <= nowMs)
      .sort((a, b) => (dueMs.get(nameOf(a)) ?? 0) - (dueMs.get(nameOf(b)) ?? 0));
    const worker = async (): Promise<void> => {
      for (;;) {
        // One at once of an organization: the others have their turns.
        const at = due.findIndex(({ organizationId }) => !busy.has(organizationId));
        const [owned] = at === -1 ? [] : due.splice(at, 1);
        if (owned === undefined) return;
        await run(owned);
      }
    };
    await Promise.all(Array.from({ length: turnsAtOnce }, worker));
  };
  let isTicking = false;
  const timer = setInterval(() => {
    if (isTicking) return;
    isTicking = true;
    const ticked = tick()
      .catch((error: unknown) => log.warn({ err: error }, 'alerts are not looked at'))
      .finally(() => {
        isTicking = false;
        underWay.delete(ticked);
      });
    underWay.add(ticked);
  }, tickEveryMs);
  return {
    tick,
    async stop() {
      clearInterval(timer);
      let grace: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        grace = setTimeout(resolve, graceMs);
      });
      await Promise.race([Promise.all(underWay), over]);
      clearTimeout(grace);
    },
  };
}

function nameOf({ alert }: OwnedAlert): string {
  return `${alert.id} ${alert.updateTime?.seconds} ${alert.updateTime?.nanos}`;
}
