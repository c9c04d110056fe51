// The operator's commands on an instance, one function each; each returns the text to print. Reading the command line
// and reaching the broker is admin.ts's.

import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { readProject } from '../../platform/access/projects.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { watchBucket } from '../../platform/broker/watched-bucket.ts';
import { systemClock } from '../../platform/clock.ts';
import { readScheduleRecord } from '../../platform/exports/schedule-record.ts';
import type { Log } from '../../platform/log.ts';
import {
  addNextInstanceKey,
  instanceKeyPath,
  openSecretBox,
} from '../../platform/secrets/secret-box.ts';
import { readOrganizationWebhooks } from '../../platform/webhooks/webhook-record.ts';
import { signedTokenLifetimeMs } from '../auth/access-token.ts';
import { createPasswords } from '../auth/passwords.ts';
import { rotateSigningKey } from '../auth/signing-keys.ts';
import { type ControlBuckets, openControlBuckets } from '../buckets.ts';
import { withoutSessions } from '../customers/customer-record.ts';
import { type CustomerStore, createCustomerStore } from '../customers/customer-store.ts';
import { ensureFirstProject } from '../customers/first-project.ts';
import { withoutSecondFactor } from '../customers/second-factor-rpc.ts';
import type { TellOfReset } from '../mail/tell-of-reset.ts';
import { ensureProjectWithKey } from '../projects/project-record.ts';
import { displayNameField, emailField, newPasswordField } from '../request-fields.ts';
import { backupLines, restoreLines } from './backup.ts';
import { rotateInstanceKey } from './rotate-instance-key.ts';

export interface Operator {
  connection: NatsConnection;
  dataDir: string;
  log: Log;
}

/** Makes a customer with a password, an organization and a project. */
export async function createCustomer(
  operator: Operator,
  options: { email: string; name?: string; password?: string; superAdmin: boolean },
): Promise<string> {
  const email = emailField('--email', options.email);
  const displayName = displayNameField('--name', options.name ?? email.split('@')[0] ?? '');
  const password = options.password ?? randomBytes(18).toString('base64url');
  newPasswordField('--password', password);
  const passwords = createPasswords();
  const passwordHash = await passwords.hash(password);
  await passwords.close();
  return withCustomers(operator, async (customers, { organizations }) => {
    const { superAdmin } = options;
    const made = await customers.create({
      email,
      emailVerified: true,
      displayName,
      passwordHash,
      superAdmin,
    });
    if (made === 'taken') throw new Error(`${email} has an account`);
    const bucket = await openBucket(operator.connection, buckets.projects, readProject);
    const projects = await watchBucket(operator.connection, bucket, { log: operator.log });
    const clock = systemClock;
    const makeProject = (project: Parameters<typeof ensureProjectWithKey>[1]) =>
      ensureProjectWithKey(projects, project, clock);
    await ensureFirstProject({ customers, organizations, makeProject, clock }, made.record);
    await projects.close();
    const shown = options.password === undefined ? `, password ${password}` : '';
    return `made ${superAdmin ? 'super admin' : 'customer'} ${email}${shown}`;
  });
}

export async function setSuperAdmin(
  operator: Operator,
  options: { email: string; on: boolean },
): Promise<string> {
  const email = emailField('--email', options.email);
  return withCustomers(operator, async (customers) => {
    const customer = customers.findByEmail(email);
    if (customer === undefined) throw new Error(`${email} has no account`);
    if (options.on && !customer.emailVerified) {
      throw new Error(`${email} is not proven: its owner signs in once by a link or a provider`);
    }
    await customers.change(customer.id, (record) => ({ ...record, superAdmin: options.on }));
    return `${email} is ${options.on ? 'a super admin' : 'no super admin any more'}`;
  });
}

/**
 * For whoever has lost app and recovery codes; ends their sessions, too, and mails them. Who they are, the operator has
 * made sure.
 */
export async function resetSecondFactor(
  operator: Operator,
  options: { email: string; tell: TellOfReset },
): Promise<string> {
  const email = emailField('--email', options.email);
  return withCustomers(operator, async (customers) => {
    const customer = customers.findByEmail(email);
    if (customer === undefined) throw new Error(`${email} has no account`);
    if (customer.secondFactor === undefined) throw new Error(`${email} has no second factor`);
    await customers.change(customer.id, (record) =>
      withoutSessions(withoutSecondFactor(record), systemClock.nowMs()),
    );
    const told = customer.emailVerified
      ? await options.tell(customer.email)
      : 'the address is not proven, so no mail tells them: do so';
    return `${email} has no second factor any more, and is signed out; ${told}`;
  });
}

/** The first step where there are several data directories. */
export async function prepareInstanceKeyCommand({
  dataDir,
}: Pick<Operator, 'dataDir'>): Promise<string> {
  openSecretBox(dataDir);
  addNextInstanceKey(dataDir);
  return (
    `${instanceKeyPath(dataDir)} holds the next instance key, which seals nothing yet; once every data directory has ` +
    'this file, seal with that key by the same command without --prepare'
  );
}

export async function rotateInstanceKeyCommand(
  operator: Operator,
  { dropOld }: { dropOld: boolean },
): Promise<string> {
  return withCustomers(operator, async (_, { customers, organizations }) => {
    const { connection, dataDir, log } = operator;
    const box = openSecretBox(dataDir);
    const bucket = await openBucket(connection, buckets.webhooks, readOrganizationWebhooks);
    const webhooks = await watchBucket(connection, bucket, { log });
    const ofSchedules = await openBucket(connection, buckets.exportSchedules, readScheduleRecord);
    const schedules = await watchBucket(connection, ofSchedules, { log });
    const sealed = { dataDir, box, customers, organizations, webhooks, schedules };
    // A bucket that is still watched would keep the command from ending.
    const { resealed, lost } = await rotateInstanceKey(sealed, { dropOld }).finally(() =>
      Promise.all([webhooks.close(), schedules.close()]),
    );
    const note =
      lost.length === 0 ? '' : `; could not be read and must be set again: ${lost.join(', ')}`;
    return dropOld
      ? `older instance keys are gone, ${resealed} more secrets sealed with the newest${note}`
      : `the instance key is new, ${resealed} secrets sealed with it${note}; once every data directory has ` +
          `${instanceKeyPath(dataDir)}, end the old key by the same command with --drop-old`;
  });
}

/**
 * Running processes sign their next token with the new key. Tokens of the old keys end with `dropOld` within a second,
 * else by themselves. Nobody is signed out: a session's refresh token gets an access token of the new key.
 */
export async function rotateSigningKeyCommand(
  { dataDir }: Pick<Operator, 'dataDir'>,
  { dropOld }: { dropOld: boolean },
): Promise<string> {
  const tokenLifetimeMs = signedTokenLifetimeMs;
  rotateSigningKey(dataDir, { clock: systemClock, tokenLifetimeMs, dropOld });
  return dropOld
    ? 'the signing key is new, and no token of an older key counts any more'
    : 'the signing key is new';
}

/** Throws if the file exists. The text names the instance key's file, as sealed secrets open with that key only. */
export async function exportRecords(
  { connection, dataDir }: Operator,
  path: string,
): Promise<string> {
  const file = openSync(path, 'wx', 0o600);
  let lines = 0;
  try {
    for await (const line of backupLines(connection)) {
      writeSync(file, `${line}\n`);
      lines++;
    }
  } finally {
    closeSync(file);
  }
  return (
    `${lines - 2} records are in ${path}; ` +
    `keep ${instanceKeyPath(dataDir)} apart from it: secrets of webhooks, e-mail providers and second factors open with that key only`
  );
}

export async function restoreRecords({ connection }: Operator, path: string): Promise<string> {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return `${await restoreLines(connection, lines)} records are back`;
}

async function withCustomers(
  { connection, log }: Operator,
  work: (customers: CustomerStore, opened: ControlBuckets) => Promise<string>,
): Promise<string> {
  const opened = await openControlBuckets(connection, log);
  try {
    return await work(createCustomerStore({ ...opened, clock: systemClock }), opened);
  } finally {
    await opened.close();
  }
}
