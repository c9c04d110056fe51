// Customers as the whole service knows them: found by id or address in memory, made once per address however many try
// at the same moment. What a new customer starts with, an organization and a project, is start.ts's.

import { newId, sha256 } from '../../platform/access/ids.ts';
import type { RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { changeRecord } from '../change.ts';
import { nowText } from '../times.ts';
import type { CustomerRecord } from './customer.ts';

/** Whose a unique thing is. Made before the customer's record, so that of two who try only one goes on. */
export interface OwnerRecord {
  schemaVersion: 1;
  customerId: string;
  createTimeMs: number;
}

export function readOwner(value: unknown): OwnerRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { schemaVersion, customerId, createTimeMs } = value as Partial<OwnerRecord>;
  if (schemaVersion !== 1 || typeof customerId !== 'string' || typeof createTimeMs !== 'number') {
    return undefined;
  }
  return { schemaVersion, customerId, createTimeMs };
}

export interface NewCustomer {
  email: string;
  emailVerified: boolean;
  displayName: string;
  passwordHash?: string;
  identity?: { issuer: string; subject: string };
  superAdmin?: boolean;
  /** The name of the organization to start with; absent, it is made of the customer's name. */
  organizationName?: string;
}

export interface Accounts {
  get(id: string): CustomerRecord | undefined;
  findByEmail(email: string): CustomerRecord | undefined;
  findByIdentity(issuer: string, subject: string): Promise<CustomerRecord | undefined>;
  /** `taken` where the address or the account at a provider has a customer. */
  create(customer: NewCustomer): Promise<{ kind: 'created'; record: CustomerRecord } | 'taken'>;
  /** Changes a customer's record; undefined where there is none. `updateTime` is set here. */
  change(
    id: string,
    decide: (record: CustomerRecord) => CustomerRecord,
  ): Promise<CustomerRecord | undefined>;
  /** Joins an account at a provider to a customer; false where it is another's. */
  addIdentity(id: string, identity: { issuer: string; subject: string }): Promise<boolean>;
  unconfirmedMs(): number;
}

// Whoever reserved a key and has made no record in this time has died between the two.
const abandonedAfterMs = 60_000;

export function createAccounts(options: {
  customers: WatchedBucket<CustomerRecord>;
  owners: RecordBucket<OwnerRecord>;
  clock: Clock;
}): Accounts {
  const { customers, owners, clock } = options;
  const idByEmail = new Map<string, string>();
  for (const [id, { email }] of customers.records()) idByEmail.set(email, id);
  customers.onChange((id) => {
    const now = customers.get(id);
    if (now !== undefined) idByEmail.set(now.record.email, id);
  });
  const get = (id: string): CustomerRecord | undefined => customers.get(id)?.record;
  const reserve = (key: string, customerId: string) =>
    reserveKey({ owners, customers, clock }, key, customerId);

  return {
    get,
    findByEmail: (email) => get(idByEmail.get(email) ?? ''),
    async findByIdentity(issuer, subject) {
      const owner = await owners.get(identityKey(issuer, subject));
      return owner.kind === 'found' ? get(owner.record.customerId) : undefined;
    },
    async create(customer) {
      const record = newRecord(customer, nowText(clock));
      if (!(await reserve(emailKey(record.email), record.id))) return 'taken';
      for (const { issuer, subject } of record.identities) {
        if (!(await reserve(identityKey(issuer, subject), record.id))) return 'taken';
      }
      const made = await customers.create(record.id, record);
      if (made.kind === 'conflict') throw new Error('a random id was drawn twice');
      return { kind: 'created', record };
    },
    async change(id, decide) {
      const result = await changeRecord(customers, id, (record) => {
        const next = decide(record);
        if (next === record) return { leave: record };
        const write = { ...next, updateTime: nowText(clock) };
        return { write, answer: write };
      });
      return result.kind === 'done' ? result.answer : undefined;
    },
    async addIdentity(id, { issuer, subject }) {
      if (!(await reserve(identityKey(issuer, subject), id))) return false;
      await changeRecord(customers, id, (record) => {
        const known = record.identities.some(
          (identity) => identity.issuer === issuer && identity.subject === subject,
        );
        if (known) return { leave: undefined };
        const identities = [...record.identities, { issuer, subject }];
        return { write: { ...record, identities }, answer: undefined };
      });
      return true;
    },
    unconfirmedMs: () => customers.unconfirmedMs(),
  };
}

/** Whether the key is this customer's now. */
async function reserveKey(
  deps: {
    owners: RecordBucket<OwnerRecord>;
    customers: Pick<WatchedBucket<CustomerRecord>, 'ask'>;
    clock: Clock;
  },
  key: string,
  customerId: string,
): Promise<boolean> {
  const { owners, customers, clock } = deps;
  const wanted: OwnerRecord = { schemaVersion: 1, customerId, createTimeMs: clock.nowMs() };
  if ((await owners.create(key, wanted)).kind === 'written') return true;
  const held = await owners.get(key);
  if (held.kind !== 'found') return false;
  if (held.record.customerId === customerId) return true;
  if (clock.nowMs() - held.record.createTimeMs < abandonedAfterMs) return false;
  const owner = await customers.ask(held.record.customerId);
  if (owner.kind !== 'absent') return false;
  return (await owners.update(key, wanted, held.revision)).kind === 'written';
}

function newRecord(customer: NewCustomer, now: string): CustomerRecord {
  const { email, emailVerified, displayName, passwordHash, identity, superAdmin } = customer;
  return {
    schemaVersion: 1,
    id: newId(),
    email,
    emailVerified,
    displayName,
    ...(passwordHash !== undefined && { passwordHash }),
    identities: identity === undefined ? [] : [identity],
    superAdmin: superAdmin ?? false,
    sessionsFromMs: 0,
    starting: {
      organizationId: newId(),
      organizationName: customer.organizationName ?? `${displayName}'s organization`.slice(0, 150),
      projectId: newId(),
    },
    createTime: now,
    updateTime: now,
  };
}

// Addresses hold characters that keys may not, and keys are seen by whoever looks at the broker.
export function emailKey(email: string): string {
  return `email.${sha256(email)}`;
}

export function identityKey(issuer: string, subject: string): string {
  return `identity.${sha256(JSON.stringify([issuer, subject]))}`;
}
