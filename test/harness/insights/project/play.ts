// A project's life: events and identity calls go to the running product, and at the same time into a model that knows
// what they add up to. Without a product only the model is told.

import { setTimeout as delay } from 'node:timers/promises';
import { unmerge } from '../../../../control/operator/unmerge.ts';
import { connectBroker } from '../../../../platform/broker/nats.ts';
import { dayMs } from '../../../../platform/clock.ts';
import { createLog } from '../../../../platform/log.ts';
import { batchCreate, call, eventually, rows } from '../../clients/client.ts';
import { alias, getProfile, identify } from '../../clients/profile-client.ts';
import { ProfileModel } from '../../models/profile-model.ts';
import type { Stack } from '../../servers/stack.ts';
import type { KnownEvent, KnownProject } from '../oracle/tables.ts';
import { type SentEvent, wireEvent } from './sent-event.ts';

const eventsPerCall = 500;
const readsAtOnce = 4;
const never = { from: 0, to: 0 };

export class Play {
  readonly #stack: Stack | undefined;
  readonly #model = new ProfileModel();
  readonly #events = new Map<string, SentEvent & { receivedMs: number }>();
  readonly #distinctIds = new Set<string>();
  readonly #profileIds = new Map<string, string>();

  constructor(stack: Stack | undefined) {
    this.#stack = stack;
  }

  /** Sends events, in their order, in as few calls as it takes. An eventId that was sent before counts once. */
  async send(events: readonly SentEvent[]): Promise<void> {
    for (const visitor of new Set(events.map((event) => event.visitor))) {
      const its = events.filter((event) => event.visitor === visitor);
      for (let at = 0; at < its.length; at += eventsPerCall) {
        await this.#sendOnce(its.slice(at, at + eventsPerCall), visitor);
      }
    }
  }

  async identify(
    externalId: string,
    traits: Record<string, unknown>,
    anonymousId = '',
  ): Promise<void> {
    this.#know(externalId, anonymousId);
    if (this.#stack) await identify(this.#stack, { externalId, traits, anonymousId });
    this.#model.identify(externalId, traits, anonymousId, never);
  }

  async alias(previousId: string, externalId: string): Promise<void> {
    this.#know(previousId, externalId);
    if (this.#stack) await alias(this.#stack, { previousId, externalId });
    this.#model.alias(previousId, externalId, never);
  }

  async unmerge(distinctId: string): Promise<void> {
    this.#model.unmerge(distinctId, never);
    const stack = this.#stack;
    if (stack === undefined) return;
    const log = createLog('silent');
    const connection = await connectBroker(stack.natsUrl, log);
    try {
      await unmerge({ connection, projectId: stack.projectId, distinctId, log });
    } finally {
      await connection.close();
    }
  }

  /** Whether the id has a profile that is not deleted. */
  exists(distinctId: string): boolean {
    return this.#model.read(distinctId) !== undefined;
  }

  /** Deletes the profile of an id; everything before must be visible, because Delete refuses what it cannot see. */
  async remove(distinctId: string): Promise<void> {
    await this.settle([distinctId]);
    this.#model.delete(distinctId);
    if (this.#stack === undefined) return;
    const id = await this.#profileId(distinctId);
    const path = '/shared.profiles.v1.ProfilesService/Delete';
    const { status } = await call(this.#stack.baseUrl, path, this.#stack.privateKey, { id });
    if (status !== 200) throw new Error(`Delete: ${status}`);
  }

  /** A moment after everything received so far and before everything to come. */
  async cut(): Promise<number> {
    if (this.#stack) await delay(5);
    const moment = Date.now();
    if (this.#stack) await delay(5);
    return moment;
  }

  /** Waits until the product has stored all events and answers the profiles of the model. */
  async settle(distinctIds: Iterable<string> = this.#distinctIds): Promise<void> {
    const stack = this.#stack;
    if (stack === undefined) return;
    await eventually(
      () => rows<{ count: number }>(stack.clickhouseUrl, 'SELECT count() AS count FROM events'),
      ([row]) => row?.count === this.#events.size,
    );
    const rest = distinctIds[Symbol.iterator]();
    const lane = async (): Promise<void> => {
      for (let next = rest.next(); !next.done; next = rest.next()) {
        await this.#settleOne(stack, next.value);
      }
    };
    await this.#profileIdsOfAll();
    await Promise.all(Array.from({ length: readsAtOnce }, lane));
  }

  async #settleOne(stack: Stack, distinctId: string): Promise<void> {
    const expected = this.#model.read(distinctId);
    const wanted = canonical(
      expected && [expected.externalId ?? '', expected.properties, expected.totalEvents],
    );
    await eventually(
      async () => {
        const read = await getProfile(stack, this.#profileIds.get(distinctId) ?? '');
        return canonical(
          read && [read.externalId ?? '', read.properties ?? {}, Number(read.activity.totalEvents)],
        );
      },
      (read) => read === wanted,
    );
  }

  /** What was sent, as the oracle reads it. */
  async known(): Promise<KnownProject> {
    const events = [...this.#events.values()].map((event) => this.#knownEvent(event));
    const traits = new Map<string, Record<string, unknown>>();
    const ids = new Map<string, string>();
    for (const distinctId of this.#distinctIds) {
      const root = this.#model.rootOf(distinctId);
      traits.set(root, this.#model.read(root)?.properties ?? {});
      if (this.#stack) ids.set(root, await this.#profileId(root));
    }
    await this.#nameVisitors(ids);
    return { events, traits, ids };
  }

  #knownEvent(event: SentEvent & { receivedMs: number }): KnownEvent {
    const { distinctId, visitor, occurMs } = event;
    if (distinctId === undefined) {
      const person = `cookieless ${visitor} ${Math.floor(occurMs / dayMs)}`;
      return { ...event, person, cookieless: true, deleted: false };
    }
    const person = this.#model.rootOf(distinctId);
    const deleted = this.#model.read(person) === undefined;
    return { ...event, person, cookieless: false, deleted };
  }

  async #sendOnce(events: readonly SentEvent[], visitor: string | undefined): Promise<void> {
    const receivedMs = Date.now();
    if (this.#stack) {
      const { status, body } = await batchCreate(this.#stack, events.map(wireEvent), {
        key: this.#stack.privateKey,
        headers: visitor === undefined ? {} : { 'user-agent': visitor },
      });
      if (status !== 200 || body['accepted'] !== events.length) {
        throw new Error(`BatchCreate: ${status} ${JSON.stringify(body)}`);
      }
    }
    for (const event of events) {
      const { eventId, kind, distinctId, session, occurMs } = event;
      if (this.#events.has(eventId)) continue;
      this.#events.set(eventId, { ...event, receivedMs });
      if (distinctId === undefined) continue;
      this.#know(distinctId);
      const occurTime = new Date(occurMs).toISOString();
      this.#model.send([{ eventId, kind, distinctId, sessionId: session, occurTime }]);
    }
  }

  #know(...distinctIds: string[]): void {
    for (const id of distinctIds) if (id !== '') this.#distinctIds.add(id);
  }

  async #profileId(distinctId: string): Promise<string> {
    if (this.#stack === undefined) return distinctId;
    await this.#profileIdsOfAll();
    return this.#profileIds.get(distinctId) ?? '';
  }

  /** The profile ids of all distinct ids, before merges: the product alone has the key of that hash. */
  async #profileIdsOfAll(): Promise<void> {
    const missing = [...this.#distinctIds].filter((id) => !this.#profileIds.has(id));
    if (this.#stack === undefined || missing.length === 0) return;
    const list = missing.map(literal).join(', ');
    const found = await rows<{ name: string; id: string }>(
      this.#stack.clickhouseUrl,
      `SELECT name, lower(hex(millraceProfileHash('${this.#stack.projectId}', name))) AS id
       FROM (SELECT arrayJoin([${list}]) AS name)`,
    );
    for (const { name, id } of found) this.#profileIds.set(name, id);
  }

  /** The ids that the server gave to cookieless visitors, read back because nobody else can know them. */
  async #nameVisitors(ids: Map<string, string>): Promise<void> {
    if (this.#stack === undefined) return;
    const found = await rows<{ id: string; visitor: string }>(
      this.#stack.clickhouseUrl,
      `SELECT toString(event_id) AS id, lower(hex(millraceProfileHash(project_id, distinct_id))) AS visitor
       FROM events WHERE cookieless`,
    );
    for (const { id, visitor } of found) {
      const event = this.#events.get(id);
      if (event !== undefined) ids.set(this.#knownEvent(event).person, visitor);
    }
  }
}

function literal(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** JSON with the keys of objects in order. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
