// What identity calls and events should add up to, as simply as it can be said: a map of ids, each with its owner. The
// model test holds every read of the product against it.

import type { Sent } from './client.ts';

/** Moments between which something was queued. */
export interface Between {
  from: number;
  to: number;
}

interface Known {
  named: boolean;
  deleted: boolean;
  traits: Record<string, unknown>;
  owner: string | undefined;
  created: Between;
  updated: Between;
}

export interface Expected {
  externalId: string | undefined;
  properties: Record<string, unknown>;
  created: Between | undefined;
  updated: Between | undefined;
  totalEvents: number;
  pageviews: number;
  sessions: number;
  firstSeen: string | undefined;
  lastSeen: string | undefined;
}

export class ProfileModel {
  readonly #ids = new Map<string, Known>();
  readonly #events = new Map<string, Sent[]>();

  send(events: readonly Sent[]): void {
    for (const event of events) {
      const stored = this.#events.get(event.distinctId) ?? [];
      if (!stored.some(({ eventId }) => eventId === event.eventId)) stored.push(event);
      this.#events.set(event.distinctId, stored);
    }
  }

  identify(id: string, traits: Record<string, unknown>, anonymousId: string, at: Between): void {
    const profile = this.#name(id, at);
    Object.assign(profile.traits, traits);
    if (Object.keys(traits).length > 0) profile.updated = at;
    if (anonymousId !== '' && !this.#known(anonymousId).named) this.#merge(anonymousId, id);
  }

  alias(previousId: string, id: string, at: Between): void {
    const profile = this.#name(id, at);
    if (!this.#merge(previousId, id)) return;
    const { traits } = this.#known(previousId);
    if (Object.keys(traits).some((key) => !(key in profile.traits))) profile.updated = at;
    profile.traits = { ...traits, ...profile.traits };
  }

  unmerge(id: string): void {
    this.#known(id).owner = undefined;
  }

  delete(id: string): void {
    const profile = this.#known(this.rootOf(id));
    profile.deleted = true;
    profile.traits = {};
  }

  rootOf(id: string): string {
    const { owner } = this.#known(id);
    return owner === undefined ? id : this.rootOf(owner);
  }

  isNamed(id: string): boolean {
    return this.#known(id).named;
  }

  /** What Get answers for the profile of an id; undefined where that is not_found. */
  read(id: string): Expected | undefined {
    const root = this.rootOf(id);
    const { named, deleted, traits, created, updated } = this.#known(root);
    const events = [...this.#events].flatMap(([one, its]) =>
      this.rootOf(one) === root ? its : [],
    );
    if (deleted || (!named && events.length === 0)) return undefined;
    const times = events.map(({ occurTime }) => occurTime).sort();
    return {
      externalId: named ? root : undefined,
      properties: traits,
      created: named ? created : undefined,
      updated: named ? updated : undefined,
      totalEvents: events.length,
      pageviews: events.filter(({ kind }) => kind === 'page_view').length,
      sessions: new Set(events.map(({ sessionId }) => sessionId)).size,
      firstSeen: times[0],
      lastSeen: times.at(-1),
    };
  }

  #name(id: string, at: Between): Known {
    for (const one of new Set([id, this.rootOf(id)])) {
      const known = this.#known(one);
      if (known.named && !known.deleted) continue;
      Object.assign(known, { named: true, deleted: false, created: at, updated: at });
    }
    return this.#known(this.rootOf(id));
  }

  #merge(id: string, into: string): boolean {
    const known = this.#known(id);
    if (known.owner !== undefined || this.rootOf(into) === id) return false;
    known.owner = into;
    return true;
  }

  #known(id: string): Known {
    const never = { from: 0, to: 0 };
    const known = this.#ids.get(id) ?? {
      named: false,
      deleted: false,
      traits: {},
      owner: undefined,
      created: never,
      updated: never,
    };
    this.#ids.set(id, known);
    return known;
  }
}
