// The deliveries that wait in memory, and whose turn it is: organizations take turns, and the webhooks of an
// organization, so that nobody's many deliveries stand before somebody's one. A delivery costs one turn, whatever its
// size. It knows neither the broker nor why a delivery may not be sent.

import { type DueLane, dueLanes } from '../../../platform/webhooks/webhook-streams.ts';

export interface Turn {
  lane: DueLane;
  organizationId: string;
  webhookId: string;
}

export interface TurnLimits {
  /** Attempts at once in all, for each organization and for each webhook. */
  slots: number;
  slotsOfOrganization: number;
  slotsOfWebhook: number;
  /** Of `slots`, those that only this lane may use, whichever lane it is. */
  reservedOfLane: number;
}

export const usualTurnLimits: TurnLimits = {
  slots: 1_024,
  slotsOfOrganization: 256,
  slotsOfWebhook: 8,
  reservedOfLane: 256,
};

interface WebhookQueue<T> {
  readonly id: string;
  readonly organization: OrganizationQueue<T>;
  readonly waiting: Record<DueLane, T[]>;
  /** Whether it stands among its organization's `ready`. */
  readonly isReady: Record<DueLane, boolean>;
  inFlight: number;
}

interface OrganizationQueue<T> {
  readonly id: string;
  /** Its webhooks that have something to send and may send it, the next one first. */
  readonly ready: Record<DueLane, WebhookQueue<T>[]>;
  readonly isReady: Record<DueLane, boolean>;
  webhooks: number;
  inFlight: number;
}

export class FairQueue<T extends Turn> {
  readonly #limits: TurnLimits;
  readonly #webhooks = new Map<string, WebhookQueue<T>>();
  readonly #organizations = new Map<string, OrganizationQueue<T>>();
  readonly #ready: Record<DueLane, OrganizationQueue<T>[]> = { first: [], retry: [] };
  readonly #inFlight: Record<DueLane, number> = { first: 0, retry: 0 };
  /** The lane whose turn it is. */
  #lane: DueLane = 'first';

  constructor(limits: TurnLimits = usualTurnLimits) {
    this.#limits = limits;
  }

  get inFlight(): number {
    return this.#inFlight.first + this.#inFlight.retry;
  }

  /** How many more of this webhook may be offered where `maxWaiting` may wait beside those in flight. */
  roomOf(webhookId: string, maxWaiting: number): number {
    const queue = this.#webhooks.get(webhookId);
    const taken = queue === undefined ? 0 : queue.inFlight + waitingOf(queue);
    return Math.max(0, this.#limits.slotsOfWebhook + maxWaiting - taken);
  }

  /** False, and nothing is kept, where there is no room. */
  offer(item: T, maxWaiting: number): boolean {
    if (this.roomOf(item.webhookId, maxWaiting) === 0) return false;
    const queue = this.#queueOf(item);
    queue.waiting[item.lane].push(item);
    this.#markReady(queue, item.lane);
    return true;
  }

  /** The next one to send, which is in flight until `done`; undefined where none waits or may be sent. */
  next(): T | undefined {
    for (const lane of [this.#lane, otherLane(this.#lane)]) {
      const item = this.#hasSlot(lane) ? this.#nextOf(lane) : undefined;
      if (item === undefined) continue;
      this.#lane = otherLane(lane);
      return item;
    }
    return undefined;
  }

  /** Ends an attempt that `next` began. */
  done({ lane, webhookId }: T): void {
    const queue = this.#webhooks.get(webhookId);
    if (queue === undefined) return;
    this.#inFlight[lane]--;
    queue.inFlight--;
    queue.organization.inFlight--;
    for (const each of dueLanes) {
      this.#markReady(queue, each);
      this.#markOrganizationReady(queue.organization, each);
    }
    this.#forgetIdle(queue);
  }

  /** Takes out all that wait for a webhook; those in flight stay. */
  takeWaiting(webhookId: string): T[] {
    const queue = this.#webhooks.get(webhookId);
    if (queue === undefined) return [];
    const taken = dueLanes.flatMap((lane) => queue.waiting[lane].splice(0));
    this.#forgetIdle(queue);
    return taken;
  }

  #queueOf({ organizationId, webhookId }: T): WebhookQueue<T> {
    const known = this.#webhooks.get(webhookId);
    if (known !== undefined) return known;
    const organization = this.#organizations.get(organizationId) ?? {
      id: organizationId,
      ready: { first: [], retry: [] },
      isReady: { first: false, retry: false },
      webhooks: 0,
      inFlight: 0,
    };
    organization.webhooks++;
    this.#organizations.set(organizationId, organization);
    const queue: WebhookQueue<T> = {
      id: webhookId,
      organization,
      waiting: { first: [], retry: [] },
      isReady: { first: false, retry: false },
      inFlight: 0,
    };
    this.#webhooks.set(webhookId, queue);
    return queue;
  }

  #markReady(queue: WebhookQueue<T>, lane: DueLane): void {
    const maySend = queue.waiting[lane].length > 0 && queue.inFlight < this.#limits.slotsOfWebhook;
    if (!maySend || queue.isReady[lane]) return;
    queue.isReady[lane] = true;
    queue.organization.ready[lane].push(queue);
    this.#markOrganizationReady(queue.organization, lane);
  }

  #markOrganizationReady(organization: OrganizationQueue<T>, lane: DueLane): void {
    const maySend =
      organization.ready[lane].length > 0 &&
      organization.inFlight < this.#limits.slotsOfOrganization;
    if (!maySend || organization.isReady[lane]) return;
    organization.isReady[lane] = true;
    this.#ready[lane].push(organization);
  }

  #hasSlot(lane: DueLane): boolean {
    const { slots, reservedOfLane } = this.#limits;
    return this.inFlight < slots && this.#inFlight[lane] < slots - reservedOfLane;
  }

  #nextOf(lane: DueLane): T | undefined {
    for (;;) {
      const organization = this.#ready[lane].shift();
      if (organization === undefined) return undefined;
      organization.isReady[lane] = false;
      const item = this.#nextOfOrganization(organization, lane);
      this.#markOrganizationReady(organization, lane);
      if (item !== undefined) return item;
    }
  }

  #nextOfOrganization(organization: OrganizationQueue<T>, lane: DueLane): T | undefined {
    if (organization.inFlight >= this.#limits.slotsOfOrganization) return undefined;
    const queue = organization.ready[lane].shift();
    if (queue === undefined) return undefined;
    queue.isReady[lane] = false;
    // Both lanes may have it as ready when it has its last slot.
    if (queue.inFlight >= this.#limits.slotsOfWebhook) return undefined;
    const item = queue.waiting[lane].shift();
    if (item === undefined) {
      this.#forgetIdle(queue);
      return undefined;
    }
    queue.inFlight++;
    organization.inFlight++;
    this.#inFlight[lane]++;
    this.#markReady(queue, lane);
    return item;
  }

  #forgetIdle(queue: WebhookQueue<T>): void {
    const { organization, isReady } = queue;
    if (queue.inFlight > 0 || waitingOf(queue) > 0 || isReady.first || isReady.retry) return;
    if (!this.#webhooks.delete(queue.id)) return;
    organization.webhooks--;
    if (organization.webhooks === 0) this.#organizations.delete(organization.id);
  }
}

function waitingOf<T>({ waiting }: WebhookQueue<T>): number {
  return waiting.first.length + waiting.retry.length;
}

function otherLane(lane: DueLane): DueLane {
  return lane === 'first' ? 'retry' : 'first';
}
