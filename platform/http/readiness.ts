// Whether the process and the engines that it needs can serve now. Asks each dependency, and asks it rarely: however
// many callers wait, they share one answer. The pages that show it are operator-routes.ts.

import { setTimeout as delay } from 'node:timers/promises';

/** `standby`: it holds, by waiting for another process to end, whose work it takes then. */
export type Holds = boolean | 'standby';

export interface ReadinessCheck {
  name: string;
  /** Whether the dependency answers now; a rejection counts as false. */
  check: () => Promise<Holds> | Holds;
  /**
   * A check that held counts as holding until it has failed for so long; 0 unless given. For what mends itself while
   * requests can wait: a load balancer would take their service away from all of them.
   */
  graceMs?: number;
  /** Changes when something is heard that makes every earlier answer void, as that a process has ended. */
  changes?: () => number;
}

/** By name whether the check holds. */
export type Readiness = Readonly<Record<string, Holds>>;

// A dependency that takes longer to answer is not ready.
const checkTimeoutMs = 2_000;
// A load balancer asks every few seconds: it sees no older answer than before, and a flood costs nothing more.
const sharedForMs = 1_000;

/** All who ask while the checks run, or within `shareMs` after their end, get the same answer, unless it is void. */
export function shareReadiness(
  checks: readonly ReadinessCheck[],
  shareMs = sharedForMs,
  nowMs = () => performance.now(),
): () => Promise<Readiness> {
  const graces = checks.map((check) => createGrace(check, nowMs));
  let shared: { answer: Promise<Readiness>; changes: number } | undefined;
  const changesOf = () => checks.reduce((sum, { changes }) => sum + (changes?.() ?? 0), 0);
  const run = async (): Promise<Readiness> => {
    const results = Object.entries(await runAll(checks));
    return Object.fromEntries(
      results.map(([name, holds], index) => [name, graces[index]?.(holds) ?? holds]),
    );
  };
  const share = (): NonNullable<typeof shared> => {
    const forget = (): void => {
      if (shared === asked) shared = undefined;
    };
    const changes = changesOf();
    const answer = run().finally(() => setTimeout(forget, shareMs).unref());
    const asked = { answer, changes };
    return asked;
  };
  return () => {
    if (shared?.changes !== changesOf()) shared = share();
    return shared.answer;
  };
}

/** Returns what counts after each result of the check. */
function createGrace(
  { graceMs = 0 }: ReadinessCheck,
  nowMs: () => number,
): (holds: Holds) => Holds {
  // A check that never held has no grace.
  let failsSinceMs: number | undefined = Number.NEGATIVE_INFINITY;
  return (holds) => {
    if (holds !== false) failsSinceMs = undefined;
    else failsSinceMs ??= nowMs();
    return holds || (failsSinceMs !== undefined && nowMs() - failsSinceMs < graceMs);
  };
}

export function isReady(readiness: Readiness): boolean {
  return Object.values(readiness).every(Boolean);
}

/** Checks every 25 ms until all hold; false where they do not within `timeoutMs`. */
export async function untilReady(
  checks: readonly ReadinessCheck[],
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    if (isReady(await runAll(checks))) return true;
    if (performance.now() > deadline) return false;
    await delay(25);
  }
}

/** Runs all checks at once. */
async function runAll(checks: readonly ReadinessCheck[]): Promise<Readiness> {
  const results = await Promise.all(
    checks.map(async ({ name, check }): Promise<[string, Holds]> => {
      const timeout = new Promise<false>((resolve) => {
        setTimeout(() => resolve(false), checkTimeoutMs).unref();
      });
      try {
        return [name, await Promise.race([check(), timeout])];
      } catch {
        return [name, false];
      }
    }),
  );
  return Object.fromEntries(results);
}
