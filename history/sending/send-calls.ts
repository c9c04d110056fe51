// Sends what an export says about persons, in the order of time: links of ids, and the newest traits of each person. A
// call costs a request, so those of one person become one.

import type { IdentityCall } from '../../ingest/compat/mapping/identity-call.ts';
import { readIdentityCall } from '../../ingest/compat/mapping/identity-call.ts';
import type { Violation } from '../../ingest/validation/violation.ts';
import type { JsonObject } from '../../platform/json.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import type { ProfileChange } from '../../proto/wire/profile-change.ts';
import type { Service } from './service.ts';

export interface SaidCall {
  call: IdentityCall;
  timeMs: number;
  /** Of its row, for a person. */
  place: string;
}

interface CallOptions {
  service: Pick<Service, 'identify' | 'alias'>;
  sendsTraits: boolean;
  onViolation: (call: SaidCall, violation: Violation) => void;
}

/** From here on the calls are sent. */
const maxHeld = 50_000;
const atOnce = 8;
const maxKnownLinks = 200_000;
/** Of a link, a text that no id holds. */
const gap = '\u0000';

export class CallSender {
  readonly #options: CallOptions;
  #held: SaidCall[] = [];
  readonly #links = new Map<string, true>();
  /** Requests so far. */
  sent = 0;

  constructor(options: CallOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#held.length >= maxHeld;
  }

  add(call: SaidCall): void {
    if (isNews(call.call)) this.#held.push(call);
  }

  /** Sends what is held. Throws a RequestRefused. */
  async flush(): Promise<void> {
    const held = this.#held.sort((one, other) => one.timeMs - other.timeMs);
    this.#held = [];
    const links: Link[] = [];
    const persons = new Map<string, PersonTraits>();
    for (const said of held) {
      const { changes, violations } = readIdentityCall(said.call);
      for (const violation of violations) this.#options.onViolation(said, violation);
      for (const change of changes) {
        if (change.kind === 'valid') this.#take(change.change, links, persons);
      }
    }
    const { service, sendsTraits } = this.#options;
    for (const wave of wavesOf(links)) {
      await eachAtOnce(wave, async ({ previousId, externalId }) => {
        await service.alias(previousId, externalId);
        this.sent++;
      });
    }
    if (!sendsTraits) return;
    await eachAtOnce([...persons], async ([externalId, { newest, first }]) => {
      await service.identify(externalId, membersOf(newest), membersOf(first));
      this.sent++;
    });
  }

  #take(change: ProfileChange, links: Link[], persons: Map<string, PersonTraits>): void {
    if (change.kind === 'alias') this.#link(change.previousId, change.externalId, links);
    if (change.kind !== 'identify') return;
    if (change.anonymousId !== '') this.#link(change.anonymousId, change.externalId, links);
    const known = persons.get(change.externalId) ?? { newest: new Map(), first: new Map() };
    for (const [key, json] of change.traits) known.newest.set(key, json);
    for (const [key, json] of change.traitsOnce ?? []) {
      if (!known.first.has(key)) known.first.set(key, json);
    }
    persons.set(change.externalId, known);
  }

  #link(previousId: string, externalId: string, links: Link[]): void {
    const key = previousId + gap + externalId;
    if (this.#links.has(key)) return;
    setBounded(this.#links, key, true, maxKnownLinks);
    links.push({ previousId, externalId });
  }
}

/** By key, as JSON texts. */
interface PersonTraits {
  newest: Map<string, string>;
  /** The first of those that may be set once. */
  first: Map<string, string>;
}

function membersOf(values: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries([...values].map(([key, json]) => [key, JSON.parse(json)]));
}

interface Link {
  previousId: string;
  externalId: string;
}

/** Links of a wave share no id: which of two persons claimed an id first decides, so those follow each other. */
function* wavesOf(links: readonly Link[]): Generator<Link[]> {
  let wave: Link[] = [];
  let ids = new Set<string>();
  for (const link of links) {
    if (ids.has(link.previousId) || ids.has(link.externalId)) {
      yield wave;
      wave = [];
      ids = new Set();
    }
    ids.add(link.previousId).add(link.externalId);
    wave.push(link);
  }
  yield wave;
}

/** Not of a person named again without anything new. */
function isNews({ anonymousId, alias, traits, traitsOnce }: IdentityCall): boolean {
  const isId = (id: unknown): boolean => id !== undefined && id !== null && id !== '';
  return isId(anonymousId) || isId(alias) || traits !== undefined || traitsOnce !== undefined;
}

async function eachAtOnce<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let item = items.shift(); item !== undefined; item = items.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
