// Random schedules of events, identities, aliases, deletions, unmerges, retries and kills against the real stack and a
// model of a hundred lines: every profile that is read must equal the model's. MILLRACE_MODEL_ROUNDS sets the
// schedules.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unmerge } from '../control/operator/unmerge.ts';
import { connectBroker } from '../platform/broker/nats.ts';
import { createLog } from '../platform/log.ts';
import {
  batchCreate,
  call,
  eventually,
  newEvent,
  rows,
  type Sent,
} from './harness/clients/client.ts';
import {
  alias,
  getProfile,
  identify,
  listProfiles,
  type ReadProfile,
} from './harness/clients/profile-client.ts';
import { type Between, type Expected, ProfileModel } from './harness/models/profile-model.ts';
import { type Part, type Stack, startStack } from './harness/servers/stack.ts';

const rounds = Number(process.env['MILLRACE_MODEL_ROUNDS'] ?? 3);
/** Within the 30 days that a public key may go back. */
const firstTimeMs = Date.now() - 2e9;
const seed = Number(process.env['MILLRACE_MODEL_SEED'] ?? Date.now() % 100_000);
const steps = 80;
const killsPerRound = 2;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ env: { MILLRACE_READS_PER_SECOND: '0' } });
});
afterAll(async () => {
  await stack.stop();
});

/** mulberry32: small, seeded, good enough to draw a schedule. */
function random(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Repeats a call until it is answered; an attempt without an answer may have happened. Returns the moment of the
 * answer.
 */
async function untilDone(work: () => Promise<unknown>): Promise<Between> {
  const from = Date.now();
  for (;;) {
    try {
      await work();
      return { from, to: Date.now() };
    } catch (error) {
      // All but 429, which asks to try again.
      if (error instanceof Error && /: 4(?!29)\d\d /.test(error.message)) throw error;
      await delay(100);
    }
  }
}

class Schedule {
  readonly model = new ProfileModel();
  /** The steps so far, to find out why a read differs. */
  readonly history: string[] = [];
  readonly #next: () => number;
  readonly #users: string[];
  readonly #anonymous: string[];
  readonly #sessions = Array.from({ length: 6 }, () => crypto.randomUUID());
  #sent: Sent[] = [];

  constructor(round: number) {
    this.#next = random(seed + round);
    this.#users = Array.from({ length: 6 }, (_, index) => `user-${round}-${index}`);
    this.#anonymous = Array.from({ length: 8 }, (_, index) => `anon-${round}-${index}`);
  }

  get ids(): string[] {
    return [...this.#users, ...this.#anonymous];
  }

  async step(): Promise<void> {
    const draw = this.#next();
    if (draw < 0.4) await this.#events();
    else if (draw < 0.72) await this.#identify();
    else if (draw < 0.82) await this.#alias();
    else if (draw < 0.92) await this.#delete();
    else await this.#unmerge();
  }

  async killOne(): Promise<void> {
    const parts: Part[] = ['service', 'broker', 'engine'];
    const part = this.#pick(parts);
    stack.kill9(part);
    if (part === 'service') stack = await stack.restart();
  }

  /** Half of the events are new, half were sent before. */
  async #events(): Promise<void> {
    const fresh = Array.from({ length: 1 + Math.floor(this.#next() * 4) }, () =>
      newEvent({
        distinctId: this.#pick(this.ids),
        sessionId: this.#pick(this.#sessions),
        kind: this.#next() < 0.5 ? 'page_view' : 'click',
        occurTime: new Date(firstTimeMs + Math.floor(this.#next() * 1e9)).toISOString(),
      }),
    );
    const events = [...fresh, ...this.#sent.slice(-2)];
    await untilDone(async () => {
      const { status, body } = await batchCreate(stack, events);
      if (status !== 200) throw new Error(`BatchCreate: ${status} ${JSON.stringify(body)}`);
    });
    this.model.send(events);
    this.history.push(`events ${events.map((event) => event.distinctId)}`);
    this.#sent = fresh;
  }

  async #identify(): Promise<void> {
    const externalId = this.#next() < 0.9 ? this.#pick(this.#users) : this.#pick(this.#anonymous);
    const anonymousId = this.#next() < 0.5 ? this.#pick(this.#anonymous) : '';
    const traits = Object.fromEntries(
      ['a', 'b', 'c'].flatMap((key) =>
        this.#next() < 0.4 ? [[key, this.#pick([1, null, 'x', { y: [2] }])]] : [],
      ),
    );
    const at = await untilDone(() => identify(stack, { externalId, anonymousId, traits }));
    this.model.identify(externalId, traits, anonymousId, at);
    this.history.push(`identify ${externalId} ${anonymousId} ${JSON.stringify(traits)} ${at.to}`);
    // A retry of an answered call must change nothing but the moment.
    if (this.#next() > 0.2) return;
    const again = await untilDone(() => identify(stack, { externalId, anonymousId, traits }));
    this.model.identify(externalId, traits, anonymousId, again);
  }

  async #alias(): Promise<void> {
    const [previousId, externalId] = [this.#pick(this.ids), this.#pick(this.#users)];
    const at = await untilDone(() => alias(stack, { previousId, externalId }));
    this.model.alias(previousId, externalId, at);
    this.history.push(`alias ${previousId} ${externalId} ${at.to}`);
  }

  async #delete(): Promise<void> {
    const distinctId = this.#pick(this.ids);
    const id = await profileId(distinctId);
    // Delete refuses a profile that it cannot see yet: all earlier calls must be visible.
    await settled(this, [distinctId]);
    await untilDone(async () => {
      const path = '/shared.profiles.v1.ProfilesService/Delete';
      const { status } = await call(stack.baseUrl, path, stack.privateKey, { id });
      if (status !== 200 && status !== 404) throw new Error(`Delete: ${status}`);
    });
    if (this.model.read(distinctId) === undefined) return;
    this.model.delete(distinctId);
    this.history.push(`delete ${distinctId}`);
    expect(await untilRead(() => getProfile(stack, id))).toBeUndefined();
  }

  async #unmerge(): Promise<void> {
    const distinctId = this.#pick(this.ids);
    const at = await untilDone(async () => {
      const log = createLog('silent');
      const connection = await connectBroker(stack.natsUrl, log);
      try {
        await unmerge({ connection, projectId: stack.projectId, distinctId, log });
      } finally {
        await connection.close();
      }
    });
    this.model.unmerge(distinctId, at);
    this.history.push(`unmerge ${distinctId}`);
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#next() * from.length)];
    if (picked === undefined) throw new Error('nothing to pick from');
    return picked;
  }
}

/** Reads again while a part is restarted, which takes a busy machine minutes. */
async function untilRead<T>(read: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + 300_000;
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await delay(100);
    }
  }
}

const idsByDistinct = new Map<string, string>();

async function profileId(distinctId: string): Promise<string> {
  const known = idsByDistinct.get(distinctId);
  if (known !== undefined) return known;
  const query = `SELECT lower(hex(millraceProfileHash('${stack.projectId}', '${distinctId}'))) AS id`;
  const [row] = await untilRead(() => rows<{ id: string }>(stack.clickhouseUrl, query));
  idsByDistinct.set(distinctId, row?.id ?? '');
  return row?.id ?? '';
}

/** The fields that can be compared: times of queueing are known only within bounds. */
function comparable(expected: Expected | undefined, read: ReadProfile | undefined): object {
  if (read === undefined) return { expected: undefined };
  const within = (time: string, between: Between | undefined): boolean =>
    between === undefined || (Date.parse(time) >= between.from && Date.parse(time) <= between.to);
  return {
    expected: {
      externalId: read.externalId,
      properties: read.properties ?? {},
      created: within(read.createTime, expected?.created) ? expected?.created : read.createTime,
      updated: within(read.updateTime, expected?.updated) ? expected?.updated : read.updateTime,
      totalEvents: Number(read.activity.totalEvents),
      pageviews: Number(read.activity.pageviews),
      sessions: Number(read.activity.sessions),
      firstSeen: isoTime(read.activity.firstSeen),
      lastSeen: isoTime(read.activity.lastSeen),
    },
  };
}

function isoTime(text: string | undefined): string | undefined {
  return text === undefined ? undefined : new Date(text).toISOString();
}

/** Waits until the reads of these ids equal the model's profiles. */
async function settled(
  { model, history }: Schedule,
  distinctIds: readonly string[],
): Promise<void> {
  for (const distinctId of distinctIds) {
    const expected = model.read(distinctId);
    const id = await profileId(distinctId);
    const isAsExpected = (read: ReadProfile | undefined): boolean =>
      JSON.stringify(sorted(comparable(expected, read))) === JSON.stringify(sorted({ expected }));
    const read = await eventually(() => untilRead(() => getProfile(stack, id)), isAsExpected).catch(
      () => untilRead(() => getProfile(stack, id)),
    );
    const why = `${distinctId} after ${history.join('; ')}`;
    expect(comparable(expected, read), why).toEqual({ expected });
    if (read !== undefined)
      expect(read.id, distinctId).toBe(await profileId(model.rootOf(distinctId)));
  }
}

/** The object with sorted keys, undefined ones left out. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]),
  );
}

async function listed(schedule: Schedule): Promise<void> {
  const { model, ids } = schedule;
  const roots = new Set(ids.map((id) => model.rootOf(id)));
  const visible = [...roots].filter((root) => model.read(root) !== undefined);
  const expected = await Promise.all(visible.map(profileId));
  const own = new Set(await Promise.all(ids.map(profileId)));
  const all = await listProfiles(stack);
  const found = all.map(({ id }) => id).filter((id) => own.has(id));
  expect(found.sort()).toEqual(expected.sort());
  for (const profile of all) {
    const { merged: _onlyOfGet, ...asListed } = (await getProfile(stack, profile.id)) ?? {};
    expect(asListed).toEqual(profile);
  }
}

async function feeds({ model, ids }: Schedule): Promise<void> {
  for (const distinctId of ids) {
    const { body } = await call(
      stack.baseUrl,
      '/shared.activity.v1.ActivityService/List',
      stack.privateKey,
      { distinctId, pageSize: 1_000 },
    );
    const events: unknown = body['events'] ?? [];
    if (!Array.isArray(events)) throw new Error('no events');
    const root = model.rootOf(distinctId);
    const profile = await profileId(root);
    expect(
      events.every(
        (event) => event.profileId === profile && model.rootOf(event.distinctId) === root,
      ),
    ).toBe(true);
    const { totalEvents } = model.read(distinctId) ?? {};
    if (totalEvents !== undefined) expect(events.length).toBe(totalEvents);
  }
}

it(`reads what a model of it says in ${rounds} random schedules with kills (seed ${seed})`, {
  timeout: 600_000 + rounds * 300_000,
}, async () => {
  for (let round = 0; round < rounds; round++) {
    const schedule = new Schedule(round);
    const killAt = new Set([steps / 4, (3 * steps) / 4].slice(0, killsPerRound));
    for (let step = 0; step < steps; step++) {
      if (killAt.has(step)) await schedule.killOne();
      await schedule.step();
    }
    await settled(schedule, schedule.ids);
    await listed(schedule);
    await feeds(schedule);
  }
});
