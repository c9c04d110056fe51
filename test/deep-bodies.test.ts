// Bodies of JSON that nest without end, at every interface that takes one: refused by the same words, by a process that
// goes on. Events and identities have tests of their own beside ingest's readers.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { maxBodyDepth } from '../platform/limits.ts';
import { useBroker } from './harness/servers/use-servers.ts';
import { bearer, newCustomer } from './harness/services/accounts.ts';
import { type Management, startManagement } from './harness/webhooks/management.ts';

const broker = useBroker();
let management: Management;
beforeAll(async () => {
  management = await startManagement(broker.url);
});
afterAll(() => management?.accounts.close());

/** The body's own object is the first level. */
function bodyOf(levels: number, members: string): string {
  const inner = levels - 1;
  return `{"deep":${'['.repeat(inner)}"]"${']'.repeat(inner)}${members}}`;
}

it('Connect methods ignore what they do not know, to a depth', async () => {
  const { accounts } = management;
  const customer = await newCustomer(accounts);
  const ask = async (path: string, levels: number, members: string) => {
    const response = await fetch(`${accounts.baseUrl}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(customer, customer.projectId) },
      body: bodyOf(levels, members),
    });
    const answer: unknown = await response.json();
    return [response.status, answer];
  };
  const message = 'body: must not be nested deeper than 100 levels';
  const refused = [400, { code: 'invalid_argument', message }];
  for (const [path, members] of [
    ['dashboard.orgs.v1.OrgsService/Get', `,"orgId":"${customer.orgId}"`],
    ['dashboard.dashboards.v1.DashboardsService/List', ''],
    ['shared.profiles.v1.ProfilesService/Get', `,"id":"${'0'.repeat(32)}"`],
    ['public.auth.v1.AuthService/SignOut', ',"refreshToken":"unknown"'],
    ['public.auth.v1.AuthService/StartOAuth', ',"provider":"none","redirectUri":"https://a.b/c"'],
  ] as const) {
    const plain = await ask(path, 2, members);
    expect(await ask(path, maxBodyDepth, members)).toEqual(plain);
    for (const levels of [maxBodyDepth + 1, 20_000]) {
      expect(await ask(path, levels, members)).toEqual(refused);
    }
  }
});

it("and so does the webhooks' interface, which knows every member", async () => {
  const { accounts } = management;
  const customer = await newCustomer(accounts);
  const post = async (levels: number) => {
    const response = await fetch(
      `${accounts.baseUrl}/v1/organizations/${customer.orgId}/webhooks`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(customer, customer.projectId) },
        body: bodyOf(levels, ''),
      },
    );
    return [response.status, await response.json()];
  };
  const refused = (message: string) => [400, { code: 'invalid_argument', message }];
  expect(await post(maxBodyDepth)).toEqual(refused('content: is required'));
  for (const levels of [maxBodyDepth + 1, 100_000]) {
    expect(await post(levels)).toEqual(refused('body: must not be nested deeper than 100 levels'));
  }
});
