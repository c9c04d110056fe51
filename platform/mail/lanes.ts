// Decides which mail goes next. Pools never wait for each other, and within a pool each lane has its turn: a flood of
// mails, or a slow or dead server, holds up only the mails of its owner. Sending a mail is outbox.ts's.

/** `sign-in`: links that let people in. The others: mails of organizations, by the server that they go through. */
export type MailPool = 'sign-in' | 'instance server' | 'own server';

/** Undefined once the mail has left or was given up, else the wait before its next try. */
type Delivery = { againInMs: number } | undefined;

interface MailLanes<T> {
  /** False where the queue of the lane, or that of its pool, is full. */
  add(pool: MailPool, lane: string, mail: T): boolean;
  hasRoom(pool: MailPool, lane: string): boolean;
  /** Resolves when nothing is queued, waiting for its next try or under way. */
  idle(): Promise<void>;
  /** Drops all mails that are not under way. */
  drop(): void;
}

interface Bounds {
  /** Connections: of the pool, and of one lane. */
  atOnce: number;
  atOnceOfLane: number;
  /** Mails in memory, some 3 KB each: of the pool, and of one lane. */
  queued: number;
  queuedOfLane: number;
}

const organizations = { atOnceOfLane: 4, queued: 4_000, queuedOfLane: 100 };
const bounds: Record<MailPool, Bounds> = {
  // One server takes them all: few connections, and a queue for some minutes.
  'sign-in': { atOnce: 4, atOnceOfLane: 4, queued: 1_000, queuedOfLane: 1_000 },
  'instance server': { ...organizations, atOnce: 8 },
  // Many servers, some of them slow.
  'own server': { ...organizations, atOnce: 32 },
};

/** `deliver` tries once and must not reject. */
export function createMailLanes<T>(deliver: (mail: T) => Promise<Delivery>): MailLanes<T> {
  const idleWaiters: (() => void)[] = [];
  const settle = (): void => {
    if (!Object.values(pools).every((pool) => pool.isEmpty())) return;
    for (const resolve of idleWaiters.splice(0)) resolve();
  };
  const pools: Record<MailPool, Pool<T>> = {
    'sign-in': createPool(bounds['sign-in'], deliver, settle),
    'instance server': createPool(bounds['instance server'], deliver, settle),
    'own server': createPool(bounds['own server'], deliver, settle),
  };
  return {
    add: (pool, lane, mail) => pools[pool].add(lane, mail),
    hasRoom: (pool, lane) => pools[pool].hasRoom(lane),
    idle: () =>
      new Promise((resolve) => {
        idleWaiters.push(resolve);
        settle();
      }),
    drop() {
      for (const pool of Object.values(pools)) pool.drop();
    },
  };
}

interface Pool<T> {
  add(lane: string, mail: T): boolean;
  hasRoom(lane: string): boolean;
  isEmpty(): boolean;
  drop(): void;
}

interface Lane<T> {
  queued: T[];
  /** Mails that wait for their next try. They hold no place among those under way. */
  waiting: number;
  running: number;
}

function createPool<T>(
  { atOnce, atOnceOfLane, queued, queuedOfLane }: Bounds,
  deliver: (mail: T) => Promise<Delivery>,
  settle: () => void,
): Pool<T> {
  // The lanes that have mails, in the order of their turns.
  const lanes = new Map<string, Lane<T>>();
  const timers = new Set<NodeJS.Timeout>();
  let [running, held, dropped] = [0, 0, false];

  const startOne = (lane: Lane<T>): boolean => {
    const mail = lane.running < atOnceOfLane ? lane.queued.shift() : undefined;
    if (mail === undefined) return false;
    held--;
    lane.running++;
    running++;
    void deliver(mail).then((delivery) => {
      lane.running--;
      running--;
      if (delivery !== undefined && !dropped) tryAgain(lane, mail, delivery.againInMs);
      next();
    });
    return true;
  };
  const tryAgain = (lane: Lane<T>, mail: T, againInMs: number): void => {
    held++;
    lane.waiting++;
    const timer = setTimeout(() => {
      timers.delete(timer);
      lane.waiting--;
      lane.queued.push(mail);
      next();
    }, againInMs);
    timers.add(timer);
  };
  const next = (): void => {
    for (const [id, lane] of [...lanes]) {
      if (lane.queued.length + lane.waiting + lane.running === 0) lanes.delete(id);
      else if (running < atOnce && startOne(lane)) {
        // The lane goes behind the others until its next turn.
        lanes.delete(id);
        lanes.set(id, lane);
      }
    }
    if (lanes.size === 0) settle();
  };
  const hasRoom = (id: string): boolean =>
    !dropped && held < queued && heldBy(lanes.get(id)) < queuedOfLane;
  return {
    hasRoom,
    add(id, mail) {
      if (!hasRoom(id)) return false;
      const lane = lanes.get(id) ?? { queued: [], waiting: 0, running: 0 };
      lanes.set(id, lane);
      lane.queued.push(mail);
      held++;
      next();
      return true;
    },
    isEmpty: () => lanes.size === 0,
    drop() {
      dropped = true;
      for (const timer of timers) clearTimeout(timer);
      for (const lane of lanes.values()) [lane.queued.length, lane.waiting] = [0, 0];
      held = 0;
      next();
    },
  };
}

/** Mails in the lane's memory, those under way apart. */
function heldBy<T>(lane: Lane<T> | undefined): number {
  return lane === undefined ? 0 : lane.queued.length + lane.waiting;
}
