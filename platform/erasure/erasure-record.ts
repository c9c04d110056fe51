// Requests to erase a person, or a whole project, organization or account, as the broker keeps them: query/ and
// control/ write a request, erasure/ works on it step by step, and who asked is told how far it is. Once the work is
// done a record has no personal data: ids of profiles are keyed hashes, and names are gone.

import { hasNumbers, hasTexts, type VersionedRecord } from '../broker/record-bucket.ts';
import type { Clock } from '../clock.ts';
import { isObject } from '../json.ts';
import type { LeasedRecord } from '../turns/held-record.ts';
import { isRetainedWork, ofThisVersion, type RetainedWork } from './retained-work.ts';
import type { StoredMark } from './stored-marks.ts';

export type ErasureStatus = 'pending' | 'processing' | 'completed' | 'failed';

export const wholeKinds = ['project', 'organization', 'account'] as const;

/** What is deleted as a whole, with everything in it. */
export interface Whole {
  kind: (typeof wholeKinds)[number];
  /** Of a project: its organization's. Else empty. */
  organizationId: string;
  /** A project's name while the request is open; else empty. */
  displayName: string;
}

export interface ErasureRecord extends VersionedRecord {
  /** 2 of what is deleted as a whole: versions that know persons alone must not take it for one. */
  schemaVersion: 1 | 2;
  /** Of what is deleted as a whole: its own id, so that it is asked for once. */
  requestId: string;
  /** Empty for an organization and an account. */
  projectId: string;
  /** Absent: a person is erased. */
  whole?: Whole;
  status: ErasureStatus;
  /**
   * The id that the request names, sealed by the instance key; empty once nothing is left to do, and where the request
   * repeats another after a restore.
   */
  sealedId: string;
  /** The profile id of that id, in hex. */
  profileId: string;
  /** The profile ids of all ids of the person, 16 bytes each, in base64url; empty before they are looked up. */
  ids: string;
  /** Events that were found. */
  events: number;
  /** Ms since the epoch. */
  requestedAtMs: number;
  /** 0 before. */
  completedAtMs: number;
  /** Of a request that was opened again for late rows: rows received since then are somebody new's. */
  firstCompletedAtMs?: number;
  /** What the last try failed at, or why the request failed; else empty. */
  error: string;
}

/** The key of a request in the bucket `erasures`. */
export const erasureKey = (requestId: string): string => `request.${requestId}`;

/** For SecretBox: where a sealed id opens. */
export const sealPurpose = (requestId: string): string => `erasure ${requestId}`;

export function isOpen({ status }: ErasureRecord): boolean {
  return status === 'pending' || status === 'processing';
}

/** 0 where it was never completed. */
export function firstCompletionOf(record: ErasureRecord): number {
  return record.firstCompletedAtMs ?? record.completedAtMs;
}

/** What of a record changes with its completion. */
export function completion(clock: Clock): Partial<ErasureRecord> {
  return { status: 'completed', sealedId: '', error: '', completedAtMs: clock.nowMs() };
}

export function readErasure(value: unknown): ErasureRecord | undefined {
  return isErasure(value) ? value : undefined;
}

const statuses: readonly unknown[] = ['pending', 'processing', 'completed', 'failed'];

function isErasure(value: unknown): value is ErasureRecord {
  if (typeof value !== 'object' || value === null) return false;
  const whole: unknown = Reflect.get(value, 'whole');
  return (
    Reflect.get(value, 'schemaVersion') === (whole === undefined ? 1 : 2) &&
    (whole === undefined || isWhole(whole)) &&
    hasTexts(value, ['requestId', 'projectId', 'sealedId', 'profileId', 'ids', 'error']) &&
    hasNumbers(value, ['events', 'requestedAtMs', 'completedAtMs']) &&
    statuses.includes(Reflect.get(value, 'status'))
  );
}

function isWhole(value: unknown): value is Whole {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Reflect.get(value, 'kind');
  return (
    wholeKinds.some((known) => known === kind) && hasTexts(value, ['organizationId', 'displayName'])
  );
}

export const erasureSteps = [
  'hide',
  'find',
  'queue',
  'letters',
  'cut',
  'settle',
  'forget',
  'check',
] as const;
/** Of a batch of what is deleted as a whole; no name is one of the other list's. */
export const deletionSteps = ['records', 'stored', 'messages', 'rows', 'wait', 'look'] as const;
export type DeletionStep = (typeof deletionSteps)[number];
export type ErasureStep = (typeof erasureSteps)[number] | DeletionStep;

/**
 * Requests that are worked on together: a change of a table costs by the parts that it rewrites, not by the persons.
 */
export interface ErasureBatch {
  id: string;
  requestIds: readonly string[];
  /** The place of their group of ClickHouse servers. */
  group: number;
  step: ErasureStep;
  /** Rounds begin anew where rows came while the one before was under way. */
  round: number;
  /** Sequences up to which events must be stored before the cut, by shard; absent before the step `queue`. */
  queued?: readonly Omit<StoredMark, 'ahead'>[];
  /**
   * When the work itself found a project open and closed it, as after a restore: what was let in before has its time
   * from then on. Absent where the method that was asked has closed it.
   */
  closedAtMs?: number;
  /** How often a cut was begun: the tokens of its inserts end with it. */
  cuts: number;
  /** What was stored at the last cut that was begun, and at the one before it. */
  stored: readonly StoredMark[];
  storedBefore: readonly StoredMark[];
  /** Events that were found, by request. */
  events: Readonly<Record<string, number>>;
}

/**
 * From the moment at which a project is closed. After this time, as a rule, all data that was let in before is either
 * accepted or refused. Keys are gone within a second, a publication has 5 s unless it is set otherwise, and what memory
 * holds of private keys counts for 10 s at most. What comes later is found by the looks of the day after
 * (look-again.ts).
 */
export const quietMs = 20_000;

/** The work that one process has at a time. */
export interface ErasureWork extends LeasedRecord {
  schemaVersion: 1;
  batch?: ErasureBatch;
  /** Never beside a batch: both take rows out of the same sums. */
  retained?: RetainedWork;
  /** When rows that came late were looked for last; absent before. */
  lookedAtMs?: number;
}

/** The key of the work in the bucket `instance`. */
export const erasureWorkKey = 'erasure';

/** A statement takes a minute at most, and the writers stand still for some seconds. */
export const erasureLeaseMs = 90_000;

export const noWork: ErasureWork = { schemaVersion: 1, leaseEndMs: 0 };

export function readErasureWork(value: unknown): ErasureWork | undefined {
  if (!isObject(value)) return undefined;
  const { retained, ...rest } = value;
  const work = retained === undefined ? rest : { ...rest, retained: ofThisVersion(retained) };
  return isWork(work) ? work : undefined;
}

function isWork(value: unknown): value is ErasureWork {
  if (typeof value !== 'object' || value === null) return false;
  if (Reflect.get(value, 'schemaVersion') !== 1 || !hasNumbers(value, ['leaseEndMs'])) return false;
  const batch: unknown = Reflect.get(value, 'batch');
  const retained: unknown = Reflect.get(value, 'retained');
  return (
    (batch === undefined || isBatch(batch)) && (retained === undefined || isRetainedWork(retained))
  );
}

function isBatch(value: unknown): value is ErasureBatch {
  if (typeof value !== 'object' || value === null) return false;
  const step: unknown = Reflect.get(value, 'step');
  const lists = ['requestIds', 'stored', 'storedBefore'].map((name) => Reflect.get(value, name));
  return (
    hasTexts(value, ['id']) &&
    hasNumbers(value, ['group', 'round', 'cuts']) &&
    [...erasureSteps, ...deletionSteps].some((known) => known === step) &&
    lists.every(Array.isArray) &&
    typeof Reflect.get(value, 'events') === 'object'
  );
}

const idBytes = 16;

/** Ids in hex to the text of a record. */
export function packIds(ids: Iterable<string>): string {
  return Buffer.from([...ids].join(''), 'hex').toString('base64url');
}

/** The ids of a record's text, in hex. */
export function unpackIds(packed: string): string[] {
  const hex = Buffer.from(packed, 'base64url').toString('hex');
  return Array.from({ length: hex.length / (2 * idBytes) }, (_, index) =>
    hex.slice(index * 2 * idBytes, (index + 1) * 2 * idBytes),
  );
}
