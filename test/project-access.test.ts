// A member who has some projects of an organization: to every method of every service, and of the webhook interface,
// the other projects are not there. Methods come from the definitions, so that a new one is held to it unnamed.

import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTable } from '../platform/access/access-table.ts';
import { Role } from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind } from '../proto/gen/dashboard/projects/v1/projects_pb.js';
import { operations } from '../webhooks/management/operations.ts';
import { definedServices } from './harness/defined-services.ts';
import { useBroker } from './harness/servers/use-servers.ts';
import { bearer, newCustomer, tokenIn } from './harness/services/accounts.ts';
import { answerOf } from './harness/services/any-method.ts';
import {
  content,
  type Management,
  projectSubscription,
  startManagement,
} from './harness/webhooks/management.ts';

const broker = useBroker();
const unknown = crypto.randomUUID();
const hiddenName = 'Nobody may see this';
let management: Management;
let orgId: string;
let own: string;
let hidden: string;
/** Webhooks of the two projects, and one of rooms. */
let webhooks: { own: string; hidden: string; rooms: string };
let limited: { accessToken: string };
let viewer: { accessToken: string };

beforeAll(async () => {
  management = await startManagement(broker.url);
  const { accounts } = management;
  const owner = await newCustomer(accounts);
  ({ orgId } = owner);
  own = owner.projectId;
  const { orgs, projects } = accounts.as(bearer(owner, own));
  const { project } = await projects.create({ orgId, displayName: hiddenName });
  hidden = project?.id ?? '';
  const inHidden = accounts.as(bearer(owner, hidden));
  await inHidden.dashboards.create({ displayName: hiddenName });
  await inHidden.annotations.create({ text: hiddenName });
  await inHidden.projects.createApiKey({ kind: ApiKeyKind.PUBLIC, displayName: hiddenName });
  const join = async (role: Role, projectIds: string[]) => {
    const member = await newCustomer(accounts);
    await orgs.inviteMember({
      ...{ orgId, email: member.email, role },
      ...(projectIds.length > 0 && { projects: { projectIds } }),
    });
    const token = tokenIn(await accounts.mailsTo(member.email));
    await accounts.as(bearer(member)).orgs.acceptInvite({ token });
    return member;
  };
  limited = await join(Role.MEMBER, [own]);
  viewer = await join(Role.VIEWER, []);
  // A colleague, and an invitation, of the other project.
  await join(Role.VIEWER, [hidden]);
  await orgs.inviteMember({
    ...{ orgId, email: 'guest@example.com', role: Role.VIEWER },
    projects: { projectIds: [hidden] },
  });
  const webhook = async (changes: object) => {
    const body = { content: { ...content, ...changes } };
    const authorization = owner.accessToken;
    const path = `/v1/organizations/${orgId}/webhooks`;
    return (await management.call('POST', path, { authorization, body })).text('webhook.id');
  };
  webhooks = {
    own: await webhook({ subscriptions: [projectSubscription(own)] }),
    hidden: await webhook({ name: hiddenName, subscriptions: [projectSubscription(hidden)] }),
    rooms: await webhook({ name: hiddenName }),
  };
});

afterAll(() => management.accounts.close());

const methods = (await definedServices()).flatMap((service) =>
  service.methods
    // It ends the membership.
    .filter(({ name }) => name !== 'Leave')
    .map((method): [string, DescService, DescMethod] => [
      `${service.typeName}/${method.name}`,
      service,
      method,
    ]),
);

const answer = (
  caller: { accessToken: string },
  service: DescService,
  method: DescMethod,
  projectId: string,
) => answerOf(management.accounts, { caller, service, method, orgId, projectId });

describe.each(methods)('%s', (name, service, method) => {
  it('answers of the project as of none', async () => {
    const ofHidden = await answer(limited, service, method, hidden);
    expect(ofHidden).not.toContain(hiddenName);
    expect(ofHidden).not.toContain('guest@example.com');
    const isOfProject = accessTable.get(name)?.scope === 'project';
    if (!isOfProject) {
      expect(ofHidden).not.toContain('PROJECT');
      return;
    }
    const ofNone = await answer(limited, service, method, unknown);
    expect(ofHidden).toBe(ofNone);
    // The same calls tell somebody who has the project that it is there.
    expect(await answer(viewer, service, method, hidden)).not.toBe(ofNone);
    expect(await answer(limited, service, method, own)).not.toBe(ofNone);
  });
});

describe.each(operations.map((operation) => [operation.name, operation] as const))(
  'webhooks: %s',
  (_, { method, path, role, query }) => {
    const call = async (caller: { accessToken: string }, webhookId: string, search = '') => {
      const at = path
        .replace('{organization_id}', orgId)
        .replace('{webhook_id}', webhookId)
        .replace('{delivery_id}', unknown);
      const authorization = caller.accessToken;
      const body = method === 'POST' || method === 'PATCH' ? { body: {} } : {};
      const { status, json } = await management.call(method, `${at}${search}`, {
        ...(role !== undefined && { authorization }),
        ...body,
      });
      return `${status} ${JSON.stringify(json)}`;
    };

    it('answers of its webhooks as of none', async () => {
      const ofNone = await call(limited, unknown);
      expect(await call(limited, webhooks.hidden)).toBe(ofNone);
      expect(await call(limited, webhooks.rooms)).toBe(ofNone);
      for (const text of [hidden, hiddenName, webhooks.hidden, webhooks.rooms]) {
        expect(ofNone).not.toContain(text);
      }
      if (path.includes('{webhook_id}') && role === 'viewer') {
        expect(await call(limited, webhooks.own)).toMatch(/^200 /);
        expect(await call(viewer, webhooks.hidden)).toMatch(/^200 /);
      }
      if (query?.properties['project_id'] === undefined) return;
      await call(limited, webhooks.own, `?project_id=${hidden}`);
      expect(management.log.asked.at(-1)).toMatchObject({ projectId: hidden, projectIds: [own] });
    });
  },
);

it('lists the projects that a member has, and the people of those', async () => {
  const { orgs, projects, customers } = management.accounts.as(bearer(limited));
  const listed = await projects.list({ orgId });
  expect(listed.projects.map(({ id }) => id)).toEqual([own]);
  const { members } = await orgs.listMembers({ orgId });
  // The owner, the viewer of all projects, and the caller.
  expect(members).toHaveLength(3);
  expect((await customers.list({ orgId })).customers).toHaveLength(3);
  expect((await orgs.listInvitations({ orgId })).invitations).toEqual([]);
});
