// The record of a customer, a person with an account, and the message that shows it to others. Finding and changing
// records is customer-store.ts's.

import { create } from '@bufbuild/protobuf';
import { hasTexts } from '../../platform/broker/record-bucket.ts';
import {
  type Customer,
  CustomerSchema,
} from '../../proto/gen/dashboard/customers/v1/customer_pb.js';
import { timestampOf } from '../record-times.ts';

/** An app of one-time codes, and codes for whoever has lost it. */
export interface SecondFactorRecord {
  /** The app's secret in base 64, sealed by the instance key for `secondFactorPurpose`. */
  sealedSecret: string;
  /** RFC 3339. */
  createTime: string;
  /** The half minute since 1970 whose code was used last: neither it nor an earlier one counts again. */
  lastStep: number;
  /** SHA-256 of the recovery codes that were not used. */
  recoveryHashes: readonly string[];
}

export interface CustomerRecord {
  schemaVersion: 1;
  id: string;
  /** Lower case. */
  email: string;
  /** True once somebody has proved that they read the address's mail. */
  emailVerified: boolean;
  displayName: string;
  /** PHC string; absent if the customer signs in by link or provider only. */
  passwordHash?: string;
  /** What a sign-in takes besides; absent: nothing. */
  secondFactor?: SecondFactorRecord;
  /** A secret, sealed likewise, that waits for the first code of its app. */
  startedSecondFactor?: { sealedSecret: string; expireTimeMs: number };
  /** The customer's accounts at OpenID Connect providers. */
  identities: readonly { issuer: string; subject: string }[];
  /** An operator of the instance, made by the operator's command. */
  superAdmin: boolean;
  /** Sessions that began before this are over. It only rises. */
  sessionsFromMs: number;
  /** The newest sessions, oldest first, those that have ended among them. */
  sessionIds?: readonly string[];
  /** Sessions that ended by themselves, kept while an access token of theirs may be alive. */
  endedSessions?: readonly { id: string; untilMs: number }[];
  /** The first organization and project, still to be made; absent once they are made. */
  starting?: { organizationId: string; organizationName: string; projectId: string };
  /** RFC 3339, like `updateTime`. */
  createTime: string;
  updateTime: string;
}

/** The record with all its sessions over. */
export function withoutSessions(record: CustomerRecord, nowMs: number): CustomerRecord {
  const { endedSessions: _over, ...rest } = record;
  return { ...rest, sessionsFromMs: Math.max(nowMs, record.sessionsFromMs) + 1 };
}

// A person signs out of a few sessions in a quarter of an hour.
const maxEndedSessions = 32;

/** The record with one session over, all of whose access tokens have expired at `untilMs`. */
export function withoutSession(
  record: CustomerRecord,
  id: string,
  { nowMs, untilMs }: { nowMs: number; untilMs: number },
): CustomerRecord {
  const ended = (record.endedSessions ?? []).filter((other) => other.untilMs > nowMs);
  if (ended.length >= maxEndedSessions) return withoutSessions(record, nowMs);
  return { ...record, endedSessions: [...ended, { id, untilMs }] };
}

/** Browsers, phones and scripts of one person. */
const maxSessions = 30;

/** The record with one session more, and the sessions that it has no place for. */
export function withSession(
  record: CustomerRecord,
  id: string,
): { record: CustomerRecord; displaced: readonly string[] } {
  const ids = [...(record.sessionIds ?? []), id];
  const sessionIds = ids.slice(-maxSessions);
  return { record: { ...record, sessionIds }, displaced: ids.slice(0, -maxSessions) };
}

/** Narrows a value of the bucket; undefined if it is no such record. Unknown fields are kept. */
export function readCustomer(value: unknown): CustomerRecord | undefined {
  return isCustomer(value) ? value : undefined;
}

function isCustomer(value: unknown): value is CustomerRecord {
  if (typeof value !== 'object' || value === null) return false;
  const field = (name: string): unknown => Reflect.get(value, name);
  return (
    field('schemaVersion') === 1 &&
    hasTexts(value, ['id', 'email', 'displayName', 'createTime', 'updateTime']) &&
    typeof field('emailVerified') === 'boolean' &&
    typeof field('superAdmin') === 'boolean' &&
    typeof field('sessionsFromMs') === 'number' &&
    Array.isArray(field('identities')) &&
    Array.isArray(field('sessionIds') ?? []) &&
    Array.isArray(field('endedSessions') ?? []) &&
    isSecondFactor(field('secondFactor'))
  );
}

/** A second factor in an unknown form is still one: the record must not pass for one without. */
function isSecondFactor(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  return (
    hasTexts(value, ['sealedSecret', 'createTime']) &&
    typeof Reflect.get(value, 'lastStep') === 'number' &&
    Array.isArray(Reflect.get(value, 'recoveryHashes'))
  );
}

/** Holds only the fields that other members may see. */
export function customerMessage(record: CustomerRecord): Customer {
  return create(CustomerSchema, {
    id: record.id,
    displayName: record.displayName,
    email: record.email,
    createTime: timestampOf(record.createTime),
    updateTime: timestampOf(record.updateTime),
  });
}
