// The turn of a process that changes tables. It has the shards meanwhile: what another one inserted could miss a view,
// count twice in it, or go into a table that is made anew.

import { createLease, type LeaseOptions, refuseOlderOwners, type Term } from './lease.ts';

/**
 * Resolves once this process has the shards, and with undefined where another one has changed the tables meanwhile, as
 * `isMissing` says. Throws the broker's errors.
 */
export async function takeForMigrations(
  options: LeaseOptions,
  isMissing: () => Promise<boolean>,
): Promise<Term | undefined> {
  await refuseOlderOwners(options);
  const isDone = new AbortController();
  const look = async (): Promise<void> => {
    if (!(await isMissing())) isDone.abort(new Error('another process has changed the tables'));
  };
  // Where the tables do not answer, the next look asks again.
  const onWait = (): void => void look().catch(() => {});
  const taken = createLease(options).take({ stop: isDone.signal, onWait });
  return taken.catch((error: unknown) => {
    if (isDone.signal.aborted) return undefined;
    throw error;
  });
}
