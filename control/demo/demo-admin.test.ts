// The demo's admin, by its record and its file, on a real broker.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { ensureDemoAdmin } from './demo-admin.ts';

const broker = useBroker();
let accounts: AccountsProcess;

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
});

afterAll(async () => {
  await accounts.close();
});

it('the next start keeps the demo admin and their password; without the file they get a new one', async () => {
  const { orgId } = await newCustomer(accounts);
  await accounts.control.organizations.create('demo', {
    schemaVersion: 1,
    id: 'demo',
    displayName: 'Demo',
    createTime: '2026-01-01T00:00:00Z',
    updateTime: '2026-01-01T00:00:00Z',
    members: [],
  });
  const clock = { nowMs: () => Date.now() };
  const deps = { ...accounts.control, dataDir: accounts.dataDir, clock, log: createLog('silent') };
  const admin = await ensureDemoAdmin(deps, 'demo');
  expect(await ensureDemoAdmin(deps, 'demo')).toEqual(admin);
  const { adminEmail: email, adminPassword: password } = admin;
  const me = accounts.as(bearer(await accounts.as().auth.signIn({ email, password })));
  expect((await me.orgs.list({})).orgs).toMatchObject([{ id: 'demo', role: 3 }]);
  await expect(me.orgs.get({ orgId })).rejects.toThrow('not_found');
  rmSync(join(accounts.dataDir, 'demo-admin.json'));
  const again = await ensureDemoAdmin(deps, 'demo');
  expect(again.adminPassword).not.toBe(password);
  await accounts.as().auth.signIn({ email, password: again.adminPassword });
});
