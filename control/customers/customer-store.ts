// Finds customers by id or address in memory, and makes and changes their records. Of many sign-ups with one address at
// the same moment, one makes a customer. A new customer's organization and project are first-project.ts's.

import { canonicalEmail } from '../../platform/access/email-address.ts';
import { newId } from '../../platform/access/ids.ts';
import type { RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { changeRecord } from '../../platform/records/change-record.ts';
import type { SessionRecord } from '../auth/session.ts';
import { nowText } from '../record-times.ts';
import { maxDisplayNameCharacters } from '../request-fields.ts';
import type { CustomerRecord } from './customer-record.ts';
import { emailKey, identityKey, type OwnerRecord, reserveKey } from './unique-owner.ts';

interface NewCustomer {
  email: string;
  emailVerified: boolean;
  displayName: string;
  passwordHash?: string;
  identity?: { issuer: string; subject: string };
  superAdmin?: boolean;
  /** The name of the first organization; if absent, it is made from the customer's name. */
  organizationName?: string;
}

export interface CustomerStore {
  get(id: string): CustomerRecord | undefined;
  /** By the address in its canonical form. */
  findByEmail(email: string): CustomerRecord | undefined;
  findByIdentity(issuer: string, subject: string): Promise<CustomerRecord | undefined>;
  /** `taken` if another customer has the address or the account at a provider. */
  create(customer: NewCustomer): Promise<{ kind: 'created'; record: CustomerRecord } | 'taken'>;
  /** Writes the record that `decide` returns, with a new `updateTime`; undefined if there is no such customer. */
  change(
    id: string,
    decide: (record: CustomerRecord) => CustomerRecord,
  ): Promise<CustomerRecord | undefined>;
  /** Gives the customer one more account at a provider; false if it is another customer's. */
  addIdentity(id: string, identity: { issuer: string; subject: string }): Promise<boolean>;
  /** Takes the customer's sessions away, what is reserved for them, and the record last. May be called again. */
  remove(id: string): Promise<void>;
  unconfirmedMs(): number;
}

interface CustomerStoreOptions {
  customers: WatchedBucket<CustomerRecord>;
  owners: RecordBucket<OwnerRecord>;
  sessions: Pick<RecordBucket<SessionRecord>, 'kv'>;
  clock: Clock;
}

export function createCustomerStore(options: CustomerStoreOptions): CustomerStore {
  const { customers, owners, clock } = options;
  const idByEmail = new Map<string, string>();
  // Older records may have an address in another spelling. Of two records of one address the canonical one wins.
  const place = (id: string, { email }: CustomerRecord): void => {
    const canonical = canonicalEmail(email);
    if (canonical === email || !idByEmail.has(canonical)) idByEmail.set(canonical, id);
  };
  for (const [id, record] of customers.records()) place(id, record);
  customers.onChange((id) => {
    const now = customers.get(id);
    if (now !== undefined) return place(id, now.record);
    // The address is free again.
    for (const [email, owner] of idByEmail) if (owner === id) idByEmail.delete(email);
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
      // Of an address in an older spelling another key is reserved.
      if (idByEmail.has(record.email)) return 'taken';
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
    remove: (id) => removeCustomer(options, id),
    unconfirmedMs: () => customers.unconfirmedMs(),
  };
}

async function removeCustomer(
  { customers, owners, sessions }: CustomerStoreOptions,
  id: string,
): Promise<void> {
  const found = await customers.ask(id);
  if (found.kind !== 'found') return;
  const { sessionIds = [], email, identities } = found.record;
  for (const sessionId of sessionIds) await sessions.kv.delete(sessionId);
  const reserved = [email, canonicalEmail(email)].map(emailKey);
  for (const { issuer, subject } of identities) reserved.push(identityKey(issuer, subject));
  for (const key of new Set(reserved)) {
    const owner = await owners.get(key);
    const isTheirs = owner.kind === 'found' && owner.record.customerId === id;
    if (isTheirs) await owners.kv.delete(key);
  }
  await customers.remove(id);
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
      organizationName:
        customer.organizationName ??
        `${displayName}'s organization`.slice(0, maxDisplayNameCharacters),
      projectId: newId(),
    },
    createTime: now,
    updateTime: now,
  };
}
