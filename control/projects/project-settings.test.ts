// Updates of a project's settings over HTTP on a real broker: the form in which each is stored, and refusals.

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

it('keeps exclusions in one form, and replaces all four lists', async () => {
  const sent = {
    networks: ['203.0.113.7', '10.0.0.0/08', '2001:DB8:0::/32', '10.0.0.0/8'],
    paths: [' /admin/* '],
    countries: ['de'],
    userAgents: ['HeadlessChrome'],
  };
  const { project } = await projects.update({ exclusions: sent });
  expect(project?.exclusions).toMatchObject({
    networks: ['203.0.113.7/32', '10.0.0.0/8', '2001:db8::/32'],
    paths: ['/admin/*'],
    countries: ['DE'],
    userAgents: ['HeadlessChrome'],
  });
  await projects.update({ exclusions: { paths: ['*/preview'] } });
  expect((await projects.get({})).project?.exclusions).toMatchObject({
    ...{ networks: [], countries: [], userAgents: [] },
    paths: ['*/preview'],
  });
});

it.each([
  [{ networks: ['10.0.0.0/33'] }, 'exclusions.networks[0]: must be an address or a network'],
  [{ networks: ['::ffff:10.0.0.0/104'] }, 'exclusions.networks[0]: must be an address'],
  [{ networks: ['10.0.0.0/'] }, 'exclusions.networks[0]: must be an address'],
  [{ paths: ['/a', 'admin'] }, 'exclusions.paths[1]: must be a path'],
  [{ countries: ['DEU'] }, 'exclusions.countries[0]: must be a country'],
  [{ userAgents: [''] }, 'exclusions.userAgents[0]: must be a part of a user agent'],
  [{ userAgents: ['a'.repeat(256)] }, 'of at most 255 characters'],
  [{ paths: Array.from({ length: 51 }, () => '/') }, 'exclusions.paths: must have at most 50'],
])('refuses the exclusions %j', async (exclusions, message) => {
  await expect(projects.update({ exclusions })).rejects.toMatchObject(invalid(message));
});

it('keeps the day that weeks begin on, which is Monday unless set', async () => {
  expect((await projects.get({})).project?.weekStart).toBe(1);
  expect((await projects.update({ weekStart: 7 })).project?.weekStart).toBe(7);
  await projects.update({ displayName: 'Another name' });
  expect((await projects.get({})).project?.weekStart).toBe(7);
  for (const weekStart of [0, 8, -1]) {
    await expect(projects.update({ weekStart })).rejects.toMatchObject(
      invalid('weekStart: must be 1 (Monday) to 7 (Sunday)'),
    );
  }
  expect((await projects.get({})).project?.weekStart).toBe(7);
});

it('keeps a currency of three capitals until it is emptied', async () => {
  expect((await projects.get({})).project?.currency).toBe('');
  expect((await projects.update({ currency: 'EUR' })).project?.currency).toBe('EUR');
  await projects.update({ displayName: 'One more name' });
  for (const currency of ['eur', 'EURO', 'E R', '€', 'EUR ']) {
    await expect(projects.update({ currency })).rejects.toMatchObject(
      invalid('currency: must be three capitals, such as EUR'),
    );
  }
  expect((await projects.get({})).project?.currency).toBe('EUR');
  expect((await projects.update({ currency: '' })).project?.currency).toBe('');
});

it('keeps for how many days events are kept, for ever unless set', async () => {
  expect((await projects.get({})).project?.retentionDays).toBe(0);
  expect((await projects.update({ retentionDays: 365 })).project?.retentionDays).toBe(365);
  await projects.update({ displayName: 'A further name' });
  for (const retentionDays of [-1, 3_651]) {
    await expect(projects.update({ retentionDays })).rejects.toMatchObject(
      invalid('retentionDays: must be whole days, 1 to 3650, or 0 for ever'),
    );
  }
  expect((await projects.get({})).project?.retentionDays).toBe(365);
  expect((await projects.update({ retentionDays: 0 })).project?.retentionDays).toBe(0);
});
