import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiKeyKind } from '../proto/gen/dashboard/projects/v1/projects_pb.js';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../test/harness/services/accounts.ts';

const broker = useBroker();
let nowMs = 1_800_000_000_000;
let accounts: AccountsProcess;

beforeAll(async () => {
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock: { nowMs: () => nowMs },
    control: { changeLimits: { perCustomer: 5, perOrganization: 7 } },
  });
});

afterAll(() => accounts.close());

it('a customer who changes records without end waits, and can revoke meanwhile', async () => {
  const customer = await newCustomer(accounts);
  const other = await newCustomer(accounts);
  const { orgs, projects } = accounts.as(bearer(customer, customer.projectId));
  const { apiKey } = await projects.createApiKey({ kind: ApiKeyKind.PUBLIC });
  const update = () => orgs.update({ orgId: customer.orgId, displayName: 'Again' });
  for (let changes = 1; changes < 5; changes++) await update();
  const refused = await update().catch((error: unknown) => ConnectError.from(error));
  expect(refused).toMatchObject({ code: Code.ResourceExhausted });
  expect(refused instanceof ConnectError && refused.metadata.get('retry-after')).toBe('1');
  await projects.revokeApiKey({ id: apiKey?.id ?? '' });
  await orgs.get({ orgId: customer.orgId });
  await accounts.as(bearer(other)).orgs.create({ displayName: 'Theirs' });
  nowMs += 1_000;
  await update();
});
