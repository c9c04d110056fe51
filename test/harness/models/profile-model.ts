// The profiles that identity calls and events add up to, as simply as possible: a map of ids, each with its owner. The
// model test compares every read of the product with it.

import type { Sent } from '../clients/client.ts';

/** The times before and after a call was queued. */
export interface Between {
  from: number;
  to: number;
}

interface Known {
  named: boolean;
  deleted: boolean;
  traits: Record<string, unknown>;
  /** By key, the id that gave each inherited trait. */
  givers: Record<string, string>;
  owner: string | undefined;
  /** The number of the merge that gave it its owner, from 1. */
  merged: number;
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
  #merges = 0;

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
    for (const key in traits) delete profile.givers[key];
    if (Object.keys(traits).length > 0) profile.updated = at;
    if (anonymousId !== '' && !this.#known(anonymousId).named) this.#merge(anonymousId, id);
  }

  alias(previousId: string, id: string, at: Between): void {
    if ([previousId, id].some((one) => this.#known(this.rootOf(one)).deleted)) return;
    const profile = this.#name(id, at);
    if (!this.#merge(previousId, id)) return;
    if (this.#inherit(profile, previousId, true)) profile.updated = at;
  }

  unmerge(id: string, at: Between): void {
    const root = this.rootOf(id);
    if (root === id) return;
    this.#known(id).owner = undefined;
    if (this.#known(root).deleted) this.#known(id).deleted = true;
    for (const one of [root, id]) if (this.#settle(one)) this.#known(one).updated = at;
  }

  delete(id: string): void {
    const root = this.rootOf(id);
    this.#known(root).deleted = true;
    for (const [one, known] of this.#ids) {
      if (this.rootOf(one) === root) Object.assign(known, { traits: {}, givers: {} });
    }
  }

  rootOf(id: string): string {
    const { owner } = this.#known(id);
    return owner === undefined ? id : this.rootOf(owner);
  }

  isNamed(id: string): boolean {
    return this.#known(id).named;
  }

  /** The answer of Get for the profile of an id; undefined for not_found. */
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
    if (known.owner !== undefined || known.deleted || this.rootOf(into) === id) return false;
    known.owner = into;
    known.merged = ++this.#merges;
    return true;
  }

  /** Takes over the traits of another id that the profile lacks; false where it lacks none. */
  #inherit(profile: Known, from: string, withGiven: boolean): boolean {
    const { traits, givers } = this.#known(from);
    let isChanged = false;
    for (const [key, value] of Object.entries(traits)) {
      if (key in profile.traits || (key in givers && !withGiven)) continue;
      profile.traits[key] = value;
      profile.givers[key] = givers[key] ?? from;
      isChanged = true;
    }
    return isChanged;
  }

  /** Drops traits of ids that are not merged into this one any more, and takes over those of ids that are. */
  #settle(id: string): boolean {
    const profile = this.#known(id);
    let isChanged = false;
    for (const [key, giver] of Object.entries(profile.givers)) {
      if (this.rootOf(giver) === id) continue;
      delete profile.traits[key];
      delete profile.givers[key];
      isChanged = true;
    }
    const inheritBelow = (owner: string): void => {
      const below = [...this.#ids].filter(([, known]) => known.owner === owner);
      for (const [one] of below.sort(([, a], [, b]) => a.merged - b.merged)) {
        isChanged = this.#inherit(profile, one, false) || isChanged;
        inheritBelow(one);
      }
    };
    inheritBelow(id);
    return isChanged;
  }

  #known(id: string): Known {
    const never = { from: 0, to: 0 };
    const known = this.#ids.get(id) ?? {
      named: false,
      deleted: false,
      traits: {},
      givers: {},
      owner: undefined,
      merged: 0,
      created: never,
      updated: never,
    };
    this.#ids.set(id, known);
    return known;
  }
}
