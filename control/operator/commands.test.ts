// The operator's commands and backups against a running accounts service and its broker. The command line itself is
// test/admin-command.test.ts's.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { readConfig } from '../../platform/config.ts';
import {
  readScheduleRecord,
  scheduleKey,
  scheduleSecretPurpose,
} from '../../platform/exports/schedule-record.ts';
import { createLog } from '../../platform/log.ts';
import { instanceKeyPath, openSecretBox } from '../../platform/secrets/secret-box.ts';
import {
  readOrganizationWebhooks,
  webhookSecretPurpose,
} from '../../platform/webhooks/webhook-record.ts';
import { newSchedule } from '../../test/harness/exports/new-schedule.ts';
import { startBroker } from '../../test/harness/servers/broker.ts';
import { startMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { appCode, setUpSecondFactor } from '../../test/harness/services/second-factor.ts';
import { createTellOfReset } from '../mail/tell-of-reset.ts';
import { backupLines, restoreLines, savedBuckets } from './backup.ts';
import {
  createCustomer,
  exportRecords,
  type Operator,
  prepareInstanceKeyCommand,
  resetSecondFactor,
  restoreRecords,
  rotateInstanceKeyCommand,
  rotateSigningKeyCommand,
  setSuperAdmin,
} from './commands.ts';

const log = createLog('silent');
let directory: string;
const broker = useBroker();
let accounts: AccountsProcess;
let operator: Operator;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-operator-'));
  accounts = await startAccounts({ brokerUrl: broker.url });
  operator = { connection: accounts.connection, dataDir: accounts.dataDir, log };
});

afterAll(async () => {
  await accounts.close();
  rmSync(directory, { recursive: true });
});

/** 'in' where the process accepts the session's access token, else the refusal. */
function entry(at: AccountsProcess, session: { accessToken: string }): Promise<string> {
  return at
    .as(bearer(session))
    .orgs.list({})
    .then(() => 'in', String);
}

it('makes a customer who can sign in, and a super admin who reaches every organization', async () => {
  const printed = await createCustomer(operator, { email: 'Op@Example.com', superAdmin: true });
  const [, email = '', password = ''] = /super admin (\S+), password (\S+)$/.exec(printed) ?? [];
  expect(email).toBe('op@example.com');
  const signIn = () => accounts.as().auth.signIn({ email, password });
  await expect
    .poll(() =>
      signIn().then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const me = accounts.as(bearer(await signIn()));
  expect((await me.orgs.list({})).orgs).toHaveLength(1);
  const { orgId } = await newCustomer(accounts);
  await me.orgs.get({ orgId });
  const nowhere = { orgId: crypto.randomUUID() };
  for (const call of [
    () => me.projects.create({ ...nowhere, displayName: 'Nowhere' }),
    () => me.projects.list(nowhere),
    () => me.customers.list(nowhere),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: Code.NotFound });
  }
  await setSuperAdmin(operator, { email, on: false });
  await expect
    .poll(() =>
      me.orgs.get({ orgId }).then(
        () => 'in',
        () => 'out',
      ),
    )
    .toBe('out');
  await expect(createCustomer(operator, { email, superAdmin: false })).rejects.toThrow(
    'op@example.com has an account',
  );
  await expect(createCustomer(operator, { email: 'nobody', superAdmin: false })).rejects.toThrow(
    '--email: must be an e-mail address',
  );
});

it('rotates the signing key without signing anyone out', async () => {
  const session = await newCustomer(accounts);
  const header = (token: string) => Buffer.from(token.split('.')[0] ?? '', 'base64url').toString();
  await rotateSigningKeyCommand(operator, { dropOld: false });
  await accounts.as(bearer(session)).orgs.list({});
  const { refreshToken } = session;
  const next = await accounts.as().auth.refreshToken({ refreshToken });
  expect(header(next.accessToken)).not.toBe(header(session.accessToken));
  await accounts.as(bearer(next)).orgs.list({});
  const second = await startAccounts({ brokerUrl: broker.url, dataDir: accounts.dataDir });
  await rotateSigningKeyCommand(operator, { dropOld: false });
  const third = await accounts.as().auth.refreshToken({ refreshToken: next.refreshToken });
  // The second process reads the new key at the first token signed with it.
  await expect.poll(() => entry(second, third)).toBe('in');
  await second.as(bearer(session)).orgs.list({});
  await second.close();
});

it('drops the old signing keys at once: their tokens end in every process, the sessions go on', async () => {
  const session = await newCustomer(accounts);
  const other = await startAccounts({ brokerUrl: broker.url, dataDir: accounts.dataDir });
  for (const process of [accounts, other]) {
    await expect.poll(() => entry(process, session)).toBe('in');
  }
  await rotateSigningKeyCommand(operator, { dropOld: true });
  for (const process of [accounts, other]) {
    await expect.poll(() => entry(process, session)).toContain('[unauthenticated]');
  }
  const { refreshToken } = session;
  const next = await accounts.as().auth.refreshToken({ refreshToken });
  await expect.poll(() => entry(other, next)).toBe('in');
  await other.close();
});

it('makes no super admin of an account whose address nobody has proven', async () => {
  const { email, customer } = await newCustomer(accounts);
  await accounts.control.customers.change(customer?.id ?? '', (record) => ({
    ...record,
    emailVerified: false,
  }));
  await expect(setSuperAdmin(operator, { email, on: true })).rejects.toThrow('is not proven');
});

it('resets a second factor, and signs its customer out', async () => {
  const { email, ...session } = await newCustomer(accounts);
  const settings = readConfig({}, ['--data', accounts.dataDir]);
  if (settings.kind === 'refused') throw new Error(settings.problems.join());
  const tell = createTellOfReset(settings.config, log);
  const reset = () => resetSecondFactor(operator, { email, tell });
  await expect(reset()).rejects.toThrow(`${email} has no second factor`);
  await setUpSecondFactor(accounts, session, Date.now());
  const { challenge } = await accounts.as().auth.signIn({ email, password: 'correct horse' });
  expect(challenge?.token).toBeTruthy();
  expect(await reset()).toBe(
    `${email} has no second factor any more, and is signed out; SMTP_URL is not set here: the mail to them is in ${join(accounts.dataDir, 'mail')}`,
  );
  expect((await accounts.mailsTo(email)).join()).toContain('has reset the second factor');
  const list = () =>
    accounts
      .as(bearer(session))
      .orgs.list({})
      .then(() => 'in', String);
  await expect.poll(list).toContain('unauthenticated');
  expect(
    (await accounts.as().auth.signIn({ email, password: 'correct horse' })).accessToken,
  ).not.toBe('');
  await expect(resetSecondFactor(operator, { email: 'no@example.com', tell })).rejects.toThrow(
    'no account',
  );
});

it('says where no mail tells of a reset', async () => {
  const { email, ...session } = await newCustomer(accounts);
  await setUpSecondFactor(accounts, session, Date.now());
  const accountsOf = { SMTP_URL: 'smtp://127.0.0.1:1' };
  const settings = readConfig(accountsOf, ['--data', accounts.dataDir]);
  if (settings.kind === 'refused') throw new Error(settings.problems.join());
  const tell = createTellOfReset(settings.config, log);
  expect(await resetSecondFactor(operator, { email, tell })).toMatch(
    /and is signed out; no mail tells them \(.+\): do so$/,
  );
});

it('rotates the instance key: secrets still open, the old key ends when it is told to', async () => {
  const { orgId, ...session } = await newCustomer(accounts);
  const login = { username: 'mailer', password: 'hunter2-hunter2' };
  const server = await startMailServer({ login, allowInsecureAuth: true, hideSTARTTLS: true });
  const me = accounts.as(bearer(session));
  const value = { host: '127.0.0.1', port: server.port, ...login };
  const provider = { case: 'smtp', value } as const;
  await me.providers.upsert({ orgId, provider, fromAddress: 'a@example.com' });
  const { box } = accounts.control;
  const purpose = webhookSecretPurpose(orgId);
  const { kv, ...webhooks } = await openBucket(
    accounts.connection,
    buckets.webhooks,
    readOrganizationWebhooks,
  );
  const sealedCurrentSecret = box.seal('whsec_1', purpose);
  await webhooks.create(orgId, { schemaVersion: 1, sealedCurrentSecret, webhooks: [] });
  const { exportSchedules } = buckets;
  const schedules = await openBucket(accounts.connection, exportSchedules, readScheduleRecord);
  const schedule = newSchedule(0, { endpoint: 'https://s3.example.com', sealedSecret: '' });
  const purposeOfKey = scheduleSecretPurpose(schedule.id);
  const sealedSecret = box.seal('of the bucket', purposeOfKey);
  const key = scheduleKey('prj_1', 0);
  await schedules.create(key, { ...schedule, target: { ...schedule.target, sealedSecret } });
  const { secret } = await setUpSecondFactor(accounts, session, Date.now());
  const before = readFileSync(instanceKeyPath(accounts.dataDir), 'utf8');
  const elsewhere = mkdtempSync(join(directory, 'elsewhere-'));
  copyFileSync(instanceKeyPath(accounts.dataDir), instanceKeyPath(elsewhere));
  expect(await rotateInstanceKeyCommand(operator, { dropOld: false })).toContain(
    '4 secrets sealed',
  );
  const kept = await schedules.get(key);
  if (kept.kind !== 'found') throw new Error(kept.kind);
  expect(kept.record.target.sealedSecret).not.toBe(sealedSecret);
  expect(box.open(kept.record.target.sealedSecret, purposeOfKey)).toBe('of the bucket');
  const resealed = await webhooks.get(orgId);
  if (resealed.kind !== 'found') throw new Error(resealed.kind);
  expect(resealed.record.sealedCurrentSecret).not.toBe(sealedCurrentSecret);
  expect(box.open(resealed.record.sealedCurrentSecret, purpose)).toBe('whsec_1');
  // A process whose directory has not got the new file yet seals with the old key.
  const late = openSecretBox(elsewhere).seal('whsec_2', purpose);
  const { revision } = resealed;
  await webhooks.update(orgId, { ...resealed.record, sealedCurrentSecret: late }, revision);
  expect(await rotateInstanceKeyCommand(operator, { dropOld: true })).toContain('1 more secrets');
  const ended = await webhooks.get(orgId);
  if (ended.kind !== 'found') throw new Error(ended.kind);
  expect(box.open(ended.record.sealedCurrentSecret, purpose)).toBe('whsec_2');
  await kv.delete(orgId);
  await schedules.kv.delete(key);
  const after = JSON.parse(readFileSync(instanceKeyPath(accounts.dataDir), 'utf8'));
  expect(Object.keys(after.keys)).toEqual([after.current]);
  expect(before).not.toContain(after.current);
  expect(statSync(instanceKeyPath(accounts.dataDir)).mode & 0o777).toBe(0o600);
  await expect.poll(() => me.providers.sendTest({ orgId }).then(() => 'sent', String)).toBe('sent');
  // The code of the next half minute: that of this one has set it up.
  await me.customers.removeSecondFactor({ code: appCode(secret, Date.now() + 30_000) });
  expect(server.received).toHaveLength(1);
  await server.close();
});

it('rotates to a key that every data directory had before: each opens what the others seal, at any moment', async () => {
  const { dataDir, connection } = operator;
  const path = instanceKeyPath(dataDir);
  const elsewhere = mkdtempSync(join(directory, 'elsewhere-'));
  const copy = (): void => copyFileSync(path, instanceKeyPath(elsewhere));
  copy();
  const boxes = [accounts.control.box, openSecretBox(elsewhere)] as const;
  const [here, there] = boxes;
  const allOpen = (sealed: string): void => {
    for (const box of boxes) expect(box.open(sealed, webhookSecretPurpose('org'))).toBe('whsec_1');
  };
  const first = here.seal('whsec_1', webhookSecretPurpose('org'));
  const bucket = await openBucket(connection, buckets.webhooks, readOrganizationWebhooks);
  await bucket.create('org', { schemaVersion: 1, sealedCurrentSecret: first, webhooks: [] });

  expect(await prepareInstanceKeyCommand(operator)).toContain(
    `${path} holds the next instance key`,
  );
  const prepared = readFileSync(path, 'utf8');
  await prepareInstanceKeyCommand(operator);
  expect(readFileSync(path, 'utf8')).toBe(prepared);
  expect(here.isStale(first)).toBe(false);
  const dropOld = rotateInstanceKeyCommand(operator, { dropOld: true });
  await expect(dropOld).rejects.toThrow('the next instance key waits');
  copy();
  expect(await rotateInstanceKeyCommand(operator, { dropOld: false })).toContain('secrets sealed');
  const { current, next } = JSON.parse(readFileSync(path, 'utf8'));
  expect([current, next]).toEqual([JSON.parse(prepared).next, undefined]);
  const rotated = await bucket.get('org');
  if (rotated.kind !== 'found') throw new Error(rotated.kind);
  expect(rotated.record.sealedCurrentSecret).not.toBe(first);
  allOpen(rotated.record.sealedCurrentSecret);
  allOpen(there.seal('whsec_1', webhookSecretPurpose('org')));
  copy();
  allOpen(there.seal('whsec_1', webhookSecretPurpose('org')));
  await rotateInstanceKeyCommand(operator, { dropOld: true });
  const { keys } = JSON.parse(readFileSync(path, 'utf8'));
  expect(Object.keys(keys)).toEqual([current]);
  await bucket.kv.delete('org');
});

it('restores every record into an empty broker', async () => {
  const file = join(directory, 'backup.jsonl');
  const session = await newCustomer(accounts);
  expect(await exportRecords(operator, file)).toMatch(/^\d+ records are in /);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await expect(exportRecords(operator, file)).rejects.toThrow('EEXIST');

  const empty = await startBroker();
  const connection = await connectBroker(empty.url, log);
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  const elsewhere = { connection, dataDir: accounts.dataDir, log };
  // What a restore leaves that was killed after its first records.
  const [, first = ''] = readFileSync(file, 'utf8').split('\n');
  const { bucket, key, value } = JSON.parse(first);
  const owners = await connection.jetstream().views.kv(bucket, { bindOnly: true });
  await owners.create(key, JSON.stringify(value));
  expect(await restoreRecords(elsewhere, file)).toMatch(/^\d+ records are back$/);
  const restored: string[] = [];
  for await (const line of backupLines(connection)) restored.push(line);
  expect(restored).toEqual(readFileSync(file, 'utf8').trim().split('\n'));
  await owners.put(key, JSON.stringify({ ...value, changed: true }));
  await expect(restoreRecords(elsewhere, file)).rejects.toThrow('restore into an empty broker');
  await owners.put(key, JSON.stringify(value));
  await owners.create('another', JSON.stringify(value));
  await expect(restoreRecords(elsewhere, file)).rejects.toThrow('another for one');
  await owners.delete('another');
  await connection.close();

  const again = await startAccounts({ brokerUrl: empty.url, dataDir: accounts.dataDir });
  const { email, refreshToken, orgId } = session;
  await again.as().auth.signIn({ email, password: 'correct horse' });
  const next = await again.as().auth.refreshToken({ refreshToken });
  expect((await again.as(bearer(next)).orgs.get({ orgId })).org?.role).toBe(3);
  await again.close();
  await empty.stop();
});

it('restores no backup that is cut, changed in form or of another product', async () => {
  const lines: string[] = [];
  for await (const line of backupLines(accounts.connection)) lines.push(line);
  const { connection } = accounts;
  for (const broken of [
    lines.slice(0, -1),
    lines.slice(1),
    [...lines.slice(0, 2), ...lines.slice(3)],
    [],
    [...lines.slice(0, -2), '{"bucket":"ledger","key":"0","value":{}}', ...lines.slice(-1)],
  ]) {
    await expect(restoreLines(connection, broken)).rejects.toThrow('the backup is not whole');
  }
  await expect(restoreLines(connection, ['{'])).rejects.toThrow('line 1 is no JSON');
});

it('a backup holds every bucket but the ledger with its hours, the salts and the instance', () => {
  const left = Object.values(buckets).filter((name) => !savedBuckets.includes(name));
  // A salt in a backup would outlive its day.
  expect(left.sort()).toEqual(['instance', 'ledger', 'ledger_hours', 'salts']);
});
