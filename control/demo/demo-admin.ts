// An admin of the demo organization with a random password, so that a fresh instance's dashboard can be tried at once.
// Only a file in the data directory has the password. The organization itself is demo-project.ts's.

import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OrganizationRecord } from '../../platform/access/organizations.ts';
import { hasTexts } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { changeRecord, type Records } from '../../platform/records/change-record.ts';
import { createPrivateJson, readPrivateJson } from '../../platform/secrets/private-file.ts';
import type { Passwords } from '../auth/passwords.ts';
import type { CustomerRecord } from '../customers/customer-record.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { nowText } from '../record-times.ts';

export interface DemoAdmin {
  adminEmail: string;
  adminPassword: string;
}

interface DemoAdminDeps {
  customers: Pick<CustomerStore, 'findByEmail' | 'create' | 'change'>;
  organizations: Records<OrganizationRecord>;
  passwords: Passwords;
  dataDir: string;
  clock: Clock;
  log: Log;
}

export const demoAdminEmail = 'admin@millrace.example';
const passwordCharacters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
/** 24 characters of 56 hold 139 random bits. */
const passwordLength = 24;

/**
 * Finds the demo's admin, or makes them. The file is written before the record, so that a start after a crash goes on
 * with the same password. Without the file the admin gets a new password. If the admin changes their password, it stays
 * and the file is out of date.
 */
export async function ensureDemoAdmin(
  deps: DemoAdminDeps,
  organizationId: string,
): Promise<DemoAdmin> {
  const path = join(deps.dataDir, 'demo-admin.json');
  const isFirst = !existsSync(path);
  if (isFirst)
    createPrivateJson(path, { adminEmail: demoAdminEmail, adminPassword: newPassword() });
  const admin = readAdmin(path);
  const customer = await ensureCustomer(deps, admin, isFirst);
  await changeRecord(deps.organizations, organizationId, (record) => {
    if (record.members.some(({ role }) => role === 'admin')) return { leave: undefined };
    const others = record.members.filter(({ customerId }) => customerId !== customer.id);
    const members = [...others, { customerId: customer.id, role: 'admin' as const }];
    return { write: { ...record, members, updateTime: nowText(deps.clock) }, answer: undefined };
  });
  return admin;
}

async function ensureCustomer(
  { customers, passwords, log }: DemoAdminDeps,
  admin: DemoAdmin,
  isFirst: boolean,
): Promise<CustomerRecord> {
  const found = customers.findByEmail(admin.adminEmail);
  if (found !== undefined && !isFirst) return found;
  const passwordHash = await passwords.hash(admin.adminPassword);
  if (found !== undefined) {
    log.warn('the demo admin has a new password');
    return (await customers.change(found.id, (before) => ({ ...before, passwordHash }))) ?? found;
  }
  const made = await customers.create({
    email: admin.adminEmail,
    emailVerified: true,
    displayName: 'Demo admin',
    passwordHash,
  });
  if (made === 'taken') throw new Error('another process makes the demo admin: start again');
  // No first organization and project: they join the demo's.
  const { starting: _none, ...rest } = made.record;
  return (await customers.change(rest.id, () => rest)) ?? rest;
}

function readAdmin(path: string): DemoAdmin {
  const value = readPrivateJson(path);
  const names = ['adminEmail', 'adminPassword'] as const;
  if (typeof value === 'object' && value !== null && hasTexts(value, names)) {
    return { adminEmail: value.adminEmail, adminPassword: value.adminPassword };
  }
  throw new Error(`${path} is damaged: remove it, and the demo admin gets a new password`);
}

function newPassword(): string {
  let password = '';
  for (let index = 0; index < passwordLength; index++) {
    password += passwordCharacters[randomInt(passwordCharacters.length)];
  }
  return password;
}
