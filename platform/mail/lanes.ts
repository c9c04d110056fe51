// Decides which mail goes next: one queue for the instance's mail server and one for each organization's, so that a
// slow or dead server holds up only the mails of its owner. Sending a mail, and trying again, is outbox.ts.

interface MailLanes<T> {
  /** Without `organizationId` the mail is the instance's own. False where its queue, or all of them, are full. */
  add(organizationId: string | undefined, mail: T): boolean;
  /** Resolves when nothing is queued or under way. */
  idle(): Promise<void>;
  /** Drops all queued mails; mails under way go on. */
  drop(): void;
}

interface Lane<T> {
  queued: T[];
  running: number;
}

/** Bounds of each lane. */
const maxAtOnce = 4;
const maxQueued = 1_000;
/** Bounds of all organizations together: the instance's own mails, sign-in links above all, never wait for theirs. */
const maxAtOnceOfOrganizations = 32;
const maxQueuedOfOrganizations = 4_000;

/** `deliver` must not reject. */
export function createMailLanes<T>(deliver: (mail: T) => Promise<void>): MailLanes<T> {
  const instance: Lane<T> = { queued: [], running: 0 };
  // The lanes that have mails, in the order of their turns.
  const organizations = new Map<string, Lane<T>>();
  const idleWaiters: (() => void)[] = [];

  const startOne = (lane: Lane<T>): boolean => {
    const mail = lane.running < maxAtOnce ? lane.queued.shift() : undefined;
    if (mail === undefined) return false;
    lane.running++;
    void deliver(mail).finally(() => {
      lane.running--;
      next();
    });
    return true;
  };
  const next = (): void => {
    while (startOne(instance));
    let room = maxAtOnceOfOrganizations - sum(organizations, ({ running }) => running);
    for (const [id, lane] of [...organizations]) {
      if (isEmpty(lane)) organizations.delete(id);
      else if (room > 0 && startOne(lane)) {
        room--;
        // The lane goes behind the others until its next turn.
        organizations.delete(id);
        organizations.set(id, lane);
      }
    }
    if (!isEmpty(instance) || organizations.size > 0) return;
    for (const resolve of idleWaiters.splice(0)) resolve();
  };
  return {
    add(organizationId, mail) {
      const own = organizationId === undefined ? instance : organizations.get(organizationId);
      const lane = own ?? { queued: [], running: 0 };
      if (lane.queued.length >= maxQueued) return false;
      if (organizationId !== undefined) {
        const waiting = sum(organizations, ({ queued }) => queued.length);
        if (waiting >= maxQueuedOfOrganizations) return false;
        organizations.set(organizationId, lane);
      }
      lane.queued.push(mail);
      next();
      return true;
    },
    async idle() {
      if (isEmpty(instance) && organizations.size === 0) return;
      await new Promise<void>((resolve) => idleWaiters.push(resolve));
    },
    drop() {
      for (const lane of [instance, ...organizations.values()]) lane.queued.length = 0;
      next();
    },
  };
}

function isEmpty({ queued, running }: Lane<unknown>): boolean {
  return running === 0 && queued.length === 0;
}

function sum(
  lanes: ReadonlyMap<string, Lane<unknown>>,
  amount: (lane: Lane<unknown>) => number,
): number {
  let total = 0;
  for (const lane of lanes.values()) total += amount(lane);
  return total;
}
