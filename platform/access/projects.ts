// The record of a project with its keys, and the look-up that every request makes: which project a key belongs to,
// and whether it is still good. The answer comes from a watched bucket in memory; control/projects/project-record.ts
// changes records.

import { setTimeout as delay } from 'node:timers/promises';
import { hasTexts, type ReadResult } from '../broker/record-bucket.ts';
import type { WatchedBucket } from '../broker/watched-bucket.ts';
import { type Clock, systemClock } from '../clock.ts';
import { isTextList } from '../json.ts';
import { setBounded } from '../memory/bounded-map.ts';
import { isRetentionDays } from '../retained/retained-from.ts';
import { type Exclusions, isExclusions } from '../senders/exclusions.ts';
import { isWeekday } from '../zones/weeks.ts';
import { type ApiKeyKind, parseApiKey, sha256 } from './ids.ts';

/** One aggregate: a project with all its keys. Times are RFC 3339. */
export interface ProjectRecord {
  schemaVersion: 1;
  id: string;
  organizationId: string;
  displayName: string;
  /** IANA name of the zone that reports use. */
  timezone: string;
  createTime: string;
  updateTime: string;
  keys: readonly ApiKeyRecord[];
  /** The families of other vendors' SDKs whose requests are taken: none unless set. */
  compat?: readonly string[];
  /** Patterns of the origins whose pages may send with a public key: all unless set. */
  allowedOrigins?: readonly string[];
  /** What is left out of the events of public keys: nothing unless set. */
  exclusions?: Exclusions;
  /** The day that weeks begin on, 1 (Monday) to 7 (Sunday): Monday unless set. */
  weekStart?: number;
  /** Three capitals: the currency that pages show first. */
  currency?: string;
  /** Events are kept for so many days, 1 to 3650: for ever unless set, and where it is 0. */
  retentionDays?: number;
}

export interface ApiKeyRecord {
  id: string;
  kind: ApiKeyKind;
  /** SHA-256 of the raw key, hex. */
  hash: string;
  /** The raw key; public keys only. */
  publicKey?: string;
  displayName?: string;
  createTime: string;
  /** The last hour in which a call used it. */
  lastUseTime?: string;
  /** Once set, the key opens nothing. */
  revokeTime?: string;
  /** What a private key opens: all that private keys do unless set. */
  scope?: KeyScope;
  /** From then on the key opens nothing. */
  expireTime?: string;
}

/** `write`: what SDKs call; `read`: reads, and nothing that changes a profile. */
export type KeyScope = 'write' | 'read';

/** Narrows a value of the bucket. Fields that this version does not know are kept. */
export function readProject(value: unknown): ProjectRecord | undefined {
  return isProject(value) ? value : undefined;
}

function isProject(value: unknown): value is ProjectRecord {
  if (typeof value !== 'object' || value === null) return false;
  const texts = [
    'id',
    'organizationId',
    'displayName',
    'timezone',
    'createTime',
    'updateTime',
  ] as const;
  if (!hasTexts(value, texts) || Reflect.get(value, 'schemaVersion') !== 1) return false;
  const keys: unknown = Reflect.get(value, 'keys');
  const lists = [Reflect.get(value, 'compat'), Reflect.get(value, 'allowedOrigins')];
  if (!lists.every((list) => list === undefined || isTextList(list))) return false;
  const exclusions: unknown = Reflect.get(value, 'exclusions');
  if (exclusions !== undefined && !isExclusions(exclusions)) return false;
  const weekStart: unknown = Reflect.get(value, 'weekStart');
  if (weekStart !== undefined && !isWeekday(weekStart)) return false;
  if (!['string', 'undefined'].includes(typeof Reflect.get(value, 'currency'))) return false;
  const retentionDays: unknown = Reflect.get(value, 'retentionDays');
  if (retentionDays !== undefined && !isRetentionDays(retentionDays)) return false;
  return Array.isArray(keys) && keys.every(isKey);
}

function isKey(value: unknown): value is ApiKeyRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (!hasTexts(value, ['id', 'kind', 'hash', 'createTime'])) return false;
  if (value.kind !== 'public' && value.kind !== 'private') return false;
  const scope: unknown = Reflect.get(value, 'scope');
  if (scope !== undefined && scope !== 'write' && scope !== 'read') return false;
  const expireTime: unknown = Reflect.get(value, 'expireTime');
  if (expireTime !== undefined && Number.isNaN(Date.parse(String(expireTime)))) return false;
  // A revocation in an unknown form is still one: the record must not pass for a good key.
  return ['publicKey', 'displayName', 'lastUseTime', 'revokeTime', 'expireTime'].every((name) =>
    ['string', 'undefined'].includes(typeof Reflect.get(value, name)),
  );
}

/** The project that a key belongs to. */
export interface KeyOwner {
  projectId: string;
  organizationId: string;
  credential: ApiKeyKind;
  keyId: string;
  scope?: KeyScope;
  /** From then on the key opens nothing. */
  expireMs?: number;
}

/** `unconfirmed`: memory is too old to tell, so the key must be refused for now. */
export type KeyLookup =
  | { kind: 'found'; owner: KeyOwner }
  | { kind: 'unknown' }
  /** The key was good until then. */
  | { kind: 'expired'; expireMs: number }
  | { kind: 'unconfirmed' };

interface DirectoryOptions {
  /** Once the broker has not confirmed memory for this long (10 s), it answers for public keys only. */
  staleAfterMs?: number;
  /** Raw keys remembered without their hash (10,000); beyond it the oldest is forgotten. */
  maxCachedKeys?: number;
  /** Tells when keys expire. */
  clock?: Clock;
}

const unknown: KeyLookup = { kind: 'unknown' };
const unconfirmed: KeyLookup = { kind: 'unconfirmed' };
const askTimeoutMs = 1_000;
const maxQuestionsInFlight = 64;

/** The part of a watched bucket of projects that findKey and confirmKey use. */
type WatchedProjects = Pick<
  WatchedBucket<ProjectRecord>,
  'get' | 'records' | 'onChange' | 'unconfirmedMs' | 'ask'
>;

export class ProjectDirectory {
  readonly #projects: WatchedProjects;
  readonly #staleAfterMs: number;
  readonly #maxCachedKeys: number;
  readonly #clock: Clock;
  readonly #byHash = new Map<string, KeyLookup & { kind: 'found' }>();
  readonly #hashesOf = new Map<string, readonly string[]>();
  readonly #byRawKey = new Map<string, KeyLookup & { kind: 'found' }>();
  readonly #questions = new Map<string, Promise<ReadResult<ProjectRecord> | undefined>>();

  constructor(projects: WatchedProjects, options: DirectoryOptions = {}) {
    this.#projects = projects;
    this.#staleAfterMs = options.staleAfterMs ?? 10_000;
    this.#maxCachedKeys = options.maxCachedKeys ?? 10_000;
    this.#clock = options.clock ?? systemClock;
    for (const [projectId] of projects.records()) this.#index(projectId);
    projects.onChange((projectId) => this.#index(projectId));
  }

  /** The project in memory, undefined where there is none. */
  project(projectId: string): ProjectRecord | undefined {
    return this.#projects.get(projectId)?.record;
  }

  /**
   * Finds a key's owner in memory alone. A key seen before costs a map look-up, any other well-formed one a SHA-256.
   * Where the answer is `unconfirmed`, `confirmKey` may still get a better one.
   */
  findKey(rawKey: string): KeyLookup {
    const found = this.#byRawKey.get(rawKey) ?? this.#findHash(rawKey);
    if (found?.owner.credential === 'public') return found;
    const expireMs = found?.owner.expireMs;
    if (expireMs !== undefined && expireMs <= this.#clock.nowMs()) {
      return { kind: 'expired', expireMs };
    }
    if (found === undefined && parseApiKey(rawKey) === undefined) return unknown;
    if (this.#projects.unconfirmedMs() > this.#staleAfterMs) return unconfirmed;
    return found ?? unknown;
  }

  /** Like findKey, but asks the broker for a known key's project where memory is too old; takes at most 1 s. */
  async confirmKey(rawKey: string): Promise<KeyLookup> {
    const fromMemory = this.findKey(rawKey);
    if (fromMemory.kind !== 'unconfirmed') return fromMemory;
    const found = this.#findHash(rawKey);
    if (found === undefined) return unconfirmed;
    const answer = await this.#askOnce(found.owner.projectId);
    if (answer === undefined || answer.kind === 'unreadable') return unconfirmed;
    if (answer.kind === 'absent') return unknown;
    const key = answer.record.keys.find(({ id }) => id === found.owner.keyId);
    return key === undefined || key.revokeTime !== undefined ? unknown : found;
  }

  #findHash(rawKey: string): (KeyLookup & { kind: 'found' }) | undefined {
    if (parseApiKey(rawKey) === undefined) return undefined;
    const found = this.#byHash.get(sha256(rawKey));
    if (found !== undefined) this.#remember(rawKey, found);
    return found;
  }

  #remember(rawKey: string, found: KeyLookup & { kind: 'found' }): void {
    setBounded(this.#byRawKey, rawKey, found, this.#maxCachedKeys);
  }

  /** Asks one question per project at a time; undefined without an answer in time, or with 64 questions open. */
  #askOnce(projectId: string): Promise<ReadResult<ProjectRecord> | undefined> {
    const asked = this.#questions.get(projectId);
    if (asked !== undefined) return asked;
    if (this.#questions.size >= maxQuestionsInFlight) return Promise.resolve(undefined);
    const answer = this.#projects.ask(projectId).catch(() => undefined);
    const timeout = delay(askTimeoutMs, undefined, { ref: false });
    const question = Promise.race([answer, timeout]).finally(() => {
      this.#questions.delete(projectId);
    });
    this.#questions.set(projectId, question);
    return question;
  }

  // Changes are rare: forgetting all raw keys costs one hash each at its next use, and misses none.
  #index(projectId: string): void {
    const project = this.project(projectId);
    const live = project?.keys.filter(({ revokeTime }) => revokeTime === undefined) ?? [];
    const hashes = live.map(({ hash }) => hash);
    // Names change, and each hour the times of last use: the keys are the same.
    if (this.#hashesOf.get(projectId)?.join() === hashes.join()) return;
    this.#byRawKey.clear();
    for (const hash of this.#hashesOf.get(projectId) ?? []) this.#byHash.delete(hash);
    this.#hashesOf.delete(projectId);
    if (project === undefined) return;
    for (const { hash, kind, id, scope, expireTime } of live) {
      const { organizationId } = project;
      const owner: KeyOwner = { projectId, organizationId, credential: kind, keyId: id };
      if (scope !== undefined) owner.scope = scope;
      if (expireTime !== undefined) owner.expireMs = Date.parse(expireTime);
      this.#byHash.set(hash, { kind: 'found', owner });
    }
    this.#hashesOf.set(projectId, hashes);
  }
}
