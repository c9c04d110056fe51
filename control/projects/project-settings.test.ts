// The settings of a project over HTTP on a real broker: what is stored, in which form, and what is refused.

import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let projects: Clients['projects'];

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
  const owner = await newCustomer(accounts);
  const { orgId } = owner;
  const made = await accounts.as(bearer(owner)).projects.create({ orgId, displayName: 'Shop' });
  projects = accounts.as(bearer(owner, made.project?.id ?? '')).projects;
});
afterAll(() => accounts.close());

const invalid = (message: string) => ({
  code: Code.InvalidArgument,
  rawMessage: expect.stringContaining(message),
});

it('keeps origins in one form, each once, until others replace them', async () => {
  const origins = ['https://Shop.example/', '*.shop.example', 'https://shop.example:443'];
  const { project } = await projects.update({ allowedOrigins: { origins } });
  const kept = ['https://shop.example', '*.shop.example'];
  expect(project?.allowedOrigins).toEqual(kept);
  await projects.update({ displayName: 'Other name' });
  expect((await projects.get({})).project?.allowedOrigins).toEqual(kept);
  const emptied = await projects.update({ allowedOrigins: { origins: [] } });
  expect(emptied.project?.allowedOrigins).toEqual([]);
});

it('refuses origins that are none, or too many, and changes nothing', async () => {
  await projects.update({ allowedOrigins: { origins: ['shop.example'] } });
  const set = (origins: string[]) => projects.update({ allowedOrigins: { origins } });
  const form = 'must be an origin such as';
  await expect(set(['a.example', 'a.example/path'])).rejects.toMatchObject(
    invalid(`allowedOrigins.origins[1]: ${form}`),
  );
  await expect(set([`${'a'.repeat(250)}.example`])).rejects.toMatchObject(invalid(form));
  const many = Array.from({ length: 51 }, (_, index) => `a${index}.example`);
  await expect(set(many)).rejects.toMatchObject(invalid('must have at most 50'));
  await set(many.slice(1));
  await set(['shop.example']);
  expect((await projects.get({})).project?.allowedOrigins).toEqual(['shop.example']);
});
