// Joins what is to be written of an organization: one write at a time, with a pause after it, and then one with all
// that came meanwhile. What waits is bounded, because the facts of a webhook become one.

import { type FreshNotices, joined } from './notice-record.ts';

type Write = (organizationId: string, fresh: ReadonlyMap<string, FreshNotices>) => Promise<void>;

/** `write` must not reject. The returned function resolves once a write has the fact. */
export function createCombinedWrites(
  write: Write,
  writeEveryMs: number,
): (organizationId: string, webhookId: string, fact: FreshNotices) => Promise<void> {
  const waiting = new Map<string, { fresh: Map<string, FreshNotices>; written: Promise<void> }>();
  /** By organization: resolves when the next write may begin. */
  const busy = new Map<string, Promise<void>>();

  const begin = (organizationId: string, fresh: ReadonlyMap<string, FreshNotices>) => {
    waiting.delete(organizationId);
    const written = write(organizationId, fresh);
    const pause = new Promise((resolve) => setTimeout(resolve, writeEveryMs));
    const free: Promise<void> = Promise.all([written, pause]).then(() => {
      if (!waiting.has(organizationId)) busy.delete(organizationId);
    });
    busy.set(organizationId, free);
    return written;
  };
  return (organizationId, webhookId, fact) => {
    const joining = waiting.get(organizationId);
    if (joining !== undefined) {
      joining.fresh.set(webhookId, joined(joining.fresh.get(webhookId), fact));
      return joining.written;
    }
    const fresh = new Map([[webhookId, fact]]);
    const before = busy.get(organizationId);
    if (before === undefined) return begin(organizationId, fresh);
    const written = before.then(() => begin(organizationId, fresh));
    waiting.set(organizationId, { fresh, written });
    return written;
  };
}
