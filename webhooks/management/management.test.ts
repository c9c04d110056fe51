// The management interface by plain HTTP, on a real port with real accounts and a real broker: webhooks and what their
// requests may say. Deliveries are deliveries/deliveries.test.ts's, credentials http/access.test.ts's, the published
// document schema/openapi.test.ts's.

import { randomUUID } from 'node:crypto';
import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { readOrganizationWebhooks } from '../../platform/webhooks/webhook-record.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  content,
  type Management,
  type ManagementAdmin,
  newManagementAdmin,
  outcome,
  projectSubscription,
  startManagement,
  subscription,
} from '../../test/harness/webhooks/management.ts';

const broker = useBroker();
let management: Management;

beforeAll(async () => {
  management = await startManagement(broker.url);
  newAdmin = () => newManagementAdmin(management);
});

afterAll(() => management.accounts.close());

const ofAlerts = 'WEBHOOK_SUBSCRIPTION_TYPE_ALERT';
const isSet = { property: 'plan', operator: 'FILTER_OPERATOR_IS_SET' };
let newAdmin: () => Promise<ManagementAdmin>;
describe('webhooks', () => {
  it('are made, listed by a part of their name, changed and deleted', async () => {
    const admin = await newAdmin();
    const description = 'What the CRM needs to know.';
    const filter = { room_type: 'chat' };
    const subscriptions = [{ ...subscription, filter }, subscription];
    const made = await admin.create({ description, subscriptions, private_only: true });
    expect(made.status).toBe(201);
    expect(made.text('secret')).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const id = made.text('webhook.id');
    const webhook = {
      ...{ ...content, id, organization_id: admin.orgId, description, subscriptions },
      ...{ status: 'WEBHOOK_STATUS_ACTIVE', private_only: true },
    };
    expect(made.json).toMatchObject({ webhook });

    const other = await admin.create({ name: 'Straße' });
    // One secret for the organization, until it is rotated.
    expect(other.text('secret')).toBe(made.text('secret'));
    const listed = async (query: string) => {
      const { json } = await admin.call('GET', `${admin.path}${query}`);
      return Array.isArray(json?.['webhooks']) ? json['webhooks'].map(({ name }) => name) : [];
    };
    expect(await listed('')).toEqual(['Orders to CRM', 'Straße']);
    expect(await listed('?name=RDERS')).toEqual(['Orders to CRM']);
    expect(await listed('?name=stra%C3%9Fe')).toEqual(['Straße']);
    expect(await listed('?name=%25')).toEqual([]);

    const path = `${admin.path}/${id}`;
    const changed = await admin.call('PATCH', path, { content: { name: ' New ' } });
    expect(changed.json).toMatchObject({ webhook: { ...webhook, name: 'New' } });
    const all = {
      ...{ name: 'All', description: '', endpoint_url: 'http://127.0.0.1:9/hook' },
      ...{ subscriptions: [subscription], private_only: false },
    };
    const again = await admin.call('PATCH', path, { content: all });
    expect(again.json).toMatchObject({ webhook: { ...webhook, ...all } });
    expect((await admin.call('GET', path)).json).toEqual(again.json);

    expect(outcome(await admin.call('DELETE', path))).toBe('204');
    expect(outcome(await admin.call('DELETE', path))).toMatch(/^404 not_found/);
    expect(outcome(await admin.call('PATCH', path, { content: all }))).toMatch(/^404 not_found/);
    expect(await listed('')).toEqual(['Straße']);
  });

  it('of a project keep their kinds and filters as they were sent', async () => {
    const admin = await newAdmin();
    const filter = {
      kinds: ['purchase', 'Purchase'],
      properties: [
        { property: 'amount', operator: 'FILTER_OPERATOR_GT', value: '100' },
        { property: 'plan', operator: 'FILTER_OPERATOR_IN', values: ['pro', 'team'] },
        {
          ...{ property: '$country', operator: 'FILTER_OPERATOR_IS_SET' },
          source: 'PROPERTY_SOURCE_AUTO',
        },
      ],
    };
    const every = projectSubscription(admin.projectId);
    const subscriptions = [{ ...every, filter }, { ...every, filter: {} }, subscription];
    const made = await admin.create({ subscriptions });
    const shown = [{ ...every, filter }, every, subscription];
    expect(made.json).toMatchObject({ webhook: { subscriptions: shown } });
    const path = `${admin.path}/${made.text('webhook.id')}`;
    const changed = await admin.call('PATCH', path, { content: { name: 'Other' } });
    expect(changed.json).toMatchObject({ webhook: { name: 'Other', subscriptions: shown } });
    const repeated = { ...every, filter: { kinds: ['a', 'a'] } };
    const again = await admin.call('PATCH', path, { content: { subscriptions: [repeated] } });
    expect(again.json).toMatchObject({
      webhook: { subscriptions: [{ ...every, filter: { kinds: ['a'] } }] },
    });
  });

  it('have no project of others, nor one that does not exist', async () => {
    const [admin, stranger] = [await newAdmin(), await newAdmin()];
    const id = (await admin.create()).text('webhook.id');
    for (const projectId of [stranger.projectId, 'none']) {
      const subscriptions = [subscription, projectSubscription(projectId)];
      const refused =
        '404 not_found: content.subscriptions[1].subject_id: there is no such project';
      expect(outcome(await admin.create({ subscriptions }))).toBe(refused);
      const changed = await admin.call('PATCH', `${admin.path}/${id}`, {
        content: { subscriptions },
      });
      expect(outcome(changed)).toBe(refused);
    }
  });

  it.each([
    ['HTTPS://Example.COM:443/a/../Hook#part', 'https://example.com/Hook'],
    ['https:\\\\example.com', 'https://example.com/'],
    ['https://münchen.example/zoë', 'https://xn--mnchen-3ya.example/zo%C3%AB'],
    ['http://2130706433:9/', 'http://127.0.0.1:9/'],
  ])('with the endpoint %s are stored, shown and sent to as %s', async (text, url) => {
    const admin = await newAdmin();
    const made = await admin.create({ endpoint_url: text });
    expect(made.text('webhook.endpoint_url')).toBe(url);
    const path = `${admin.path}/${made.text('webhook.id')}`;
    expect((await admin.call('GET', path)).text('webhook.endpoint_url')).toBe(url);
    const other = await admin.create();
    const changing = { content: { endpoint_url: text } };
    const changed = await admin.call(
      'PATCH',
      `${admin.path}/${other.text('webhook.id')}`,
      changing,
    );
    expect(changed.text('webhook.endpoint_url')).toBe(url);
    const { connection } = management.accounts;
    const bucket = await openBucket(connection, buckets.webhooks, (value) => {
      return { schemaVersion: 1, text: JSON.stringify(value) };
    });
    const found = await bucket.get(admin.orgId);
    const stored = JSON.parse(found.kind === 'found' ? found.record.text : '{}');
    expect(stored).toMatchObject({ webhooks: [{ endpointUrl: url }, { endpointUrl: url }] });
  });

  it('have no endpoint that is too long in the form that it is sent to', async () => {
    const admin = await newAdmin();
    const url = (letters: number) => `https://example.com/${'ö'.repeat(letters)}`;
    expect(outcome(await admin.create({ endpoint_url: url(1_000) }))).toContain(
      'content.endpoint_url: must have at most 2048 characters',
    );
    expect((await admin.create({ endpoint_url: url(300) })).status).toBe(201);
  });

  it('keep their secret, sealed, when it is rotated', async () => {
    const admin = await newAdmin();
    const before = await admin.create();
    const rotated = await admin.call('POST', `${admin.path}/secret/rotate`);
    const after = await admin.create();
    expect(rotated.text('secret')).not.toBe(before.text('secret'));
    expect(after.text('secret')).toBe(rotated.text('secret'));
    const { connection, control } = management.accounts;
    const bucket = await openBucket(connection, buckets.webhooks, readOrganizationWebhooks);
    const found = await bucket.get(admin.orgId);
    if (found.kind !== 'found') throw new Error(found.kind);
    expect(JSON.stringify(found.record)).not.toContain('whsec_');
    const purpose = `webhook secret of ${admin.orgId}`;
    expect(
      found.record.webhooks.map(({ sealedSecret }) => control.box.open(sealedSecret, purpose)),
    ).toEqual([before.text('secret'), after.text('secret')]);
  });

  it('have a secret before the first of them is made', async () => {
    const admin = await newAdmin();
    const rotated = await admin.call('POST', `${admin.path}/secret/rotate`);
    expect((await admin.create()).text('secret')).toBe(rotated.text('secret'));
  });

  it('are resumed and stopped; only the service pauses them', async () => {
    const admin = await newAdmin();
    const made = await admin.create();
    const path = `${admin.path}/${made.text('webhook.id')}`;
    const to = async (status: string) => {
      const answer = await admin.call('PATCH', path, { content: { status } });
      return answer.status === 200 ? answer.text('webhook.status') : outcome(answer);
    };
    const { connection } = management.accounts;
    const bucket = await openBucket(connection, buckets.webhooks, readOrganizationWebhooks);
    const record = async () => {
      const found = await bucket.get(admin.orgId);
      if (found.kind !== 'found') throw new Error(found.kind);
      return found;
    };
    const activeTime = async () => (await record()).record.webhooks[0]?.activeTime;
    const first = await activeTime();
    expect(await to('WEBHOOK_STATUS_ACTIVE')).toBe('WEBHOOK_STATUS_ACTIVE');
    expect(await activeTime()).toBe(first);
    expect(await to('WEBHOOK_STATUS_PAUSED')).toBe(
      '400 invalid_argument: content.status: must be one of WEBHOOK_STATUS_ACTIVE, WEBHOOK_STATUS_INACTIVE',
    );
    const { record: before, revision } = await record();
    const webhooks = before.webhooks.map((webhook) => {
      return { ...webhook, status: 'PAUSED', pauseReason: 'GONE' } as const;
    });
    await bucket.update(admin.orgId, { ...before, webhooks }, revision);
    const list = await admin.call('GET', admin.path);
    const paused = { status: 'WEBHOOK_STATUS_PAUSED', pause_reason: 'GONE' };
    expect(list.json).toMatchObject({ webhooks: [paused] });
    const day = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
    const test = { event_type: 'message_sent' };
    const sent = async () => [
      outcome(await admin.call('POST', `${path}/recover`, day)),
      outcome(await admin.call('POST', `${path}/deliveries/d/redeliver`)),
      (await admin.call('POST', `${path}/test`, test)).status,
    ];
    const refused = (status: string) =>
      `400 failed_precondition: the webhook is ${status}: set its status to WEBHOOK_STATUS_ACTIVE first`;
    expect(await sent()).toEqual([
      refused('WEBHOOK_STATUS_PAUSED'),
      '404 not_found: the log has no such delivery',
      202,
    ]);
    expect(await to('WEBHOOK_STATUS_ACTIVE')).toBe('WEBHOOK_STATUS_ACTIVE');
    expect((await record()).record.webhooks[0]).not.toHaveProperty('pauseReason');
    expect(await activeTime()).not.toBe(first);
    expect((await record()).record.webhooks[0]).not.toHaveProperty('inactiveTime');
    expect(await to('WEBHOOK_STATUS_INACTIVE')).toBe('WEBHOOK_STATUS_INACTIVE');
    const inactive = refused('WEBHOOK_STATUS_INACTIVE');
    expect(await sent()).toEqual([inactive, inactive, 400]);
    const { inactiveTime, updateTime } = (await record()).record.webhooks[0] ?? {};
    expect(inactiveTime).toBe(updateTime);
  });

  it('are fifty at most, however many are made at once', async () => {
    const admin = await newAdmin();
    const answers = await Promise.all(Array.from({ length: 55 }, () => admin.create()));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    const refused = answers.filter(({ status }) => status !== 201).map(outcome);
    expect(new Set(refused)).toEqual(
      new Set([
        '400 failed_precondition: an organization has at most 50 webhooks: delete one first',
      ]),
    );
    const { json } = await admin.call('GET', admin.path);
    expect(json?.['webhooks']).toHaveLength(50);
  });
});

describe('a request', () => {
  let admin: ManagementAdmin;
  beforeAll(async () => {
    admin = await newAdmin();
  });

  it.each([
    [{}, 'content: is required'],
    [[], 'body: must be a JSON object'],
    [{ content: 1 }, 'content: must be an object'],
    [{ content: {} }, 'content.name: is required'],
    [{ content: { ...content, name: '' } }, 'content.name: must not be empty'],
    [{ content: { ...content, name: '  ' } }, 'content.name: must match '],
    [{ content: { ...content, name: 'a\nb' } }, 'content.name: must match '],
    [{ content: { ...content, name: '😀'.repeat(151) } }, 'content.name: must have at most 150'],
    [{ content: { ...content, name: 7 } }, 'content.name: must be a string'],
    [{ content: { ...content, private_only: 1 } }, 'content.private_only: must be true or false'],
    [{ content: { ...content, endpoint_url: 'ftp://example.com' } }, 'content.endpoint_url: must '],
    [
      { content: { ...content, endpoint_url: 'https://user@example.com' } },
      'content.endpoint_url: must not have a user name or a password',
    ],
    [
      { content: { ...content, endpoint_url: 'https://exam\tple.com' } },
      'content.endpoint_url: must match ',
    ],
    [
      { content: { ...content, endpoint_url: 'https://example\n.com' } },
      'content.endpoint_url: must match ',
    ],
    [{ content: { ...content, endpoint_url: 'https://10.0.0.1' } }, 'content.endpoint_url: must '],
    [{ content: { ...content, subscriptions: [] } }, 'content.subscriptions: must have at least 1'],
    [
      { content: { ...content, subscriptions: Array(51).fill(subscription) } },
      'content.subscriptions: must have at most 50',
    ],
    [
      {
        content: { ...content, subscriptions: [subscription, { ...subscription, subject_id: '' }] },
      },
      'content.subscriptions[1].subject_id: must not be empty',
    ],
    [
      { content: { ...content, subscriptions: [{ ...subscription, subject_type: 'ROOM' }] } },
      'content.subscriptions[0].subject_type: must be one of WEBHOOK_SUBJECT_TYPE_ROOM, ',
    ],
    [
      { content: { ...content, subscriptions: [{ ...subscription, filter: { kind: 'a' } }] } },
      'content.subscriptions[0].filter.kind: is unknown: known are room_type',
    ],
    ['{"content":', 'body: must be valid JSON: the text ends too early, at byte 11'],
    [`{"a":"${'x'.repeat(262_144)}"}`, 'body: must have at most 262144 bytes'],
  ])('is refused: %j', async (body, message) => {
    const answer = await admin.call('POST', admin.path, body);
    expect(outcome(answer)).toContain(`400 invalid_argument: ${message}`);
  });

  it.each<[object, string]>([
    [
      { subject_type: 'WEBHOOK_SUBJECT_TYPE_ROOM' },
      'subject_type: must be WEBHOOK_SUBJECT_TYPE_PRO',
    ],
    [
      { subscription_type: subscription.subscription_type },
      'subject_type: must be of a room, a space or a block with WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE',
    ],
    [
      { ...subscription, filter: { kinds: ['a'] } },
      'filter.kinds: is unknown: known are room_type',
    ],
    [{ filter: { room_type: 'a' } }, 'filter.room_type: is unknown: known are kinds, properties'],
    [
      { subject_type: 'WEBHOOK_SUBJECT_TYPE_ROOM', subscription_type: ofAlerts },
      'subject_type: must be WEBHOOK_SUBJECT_TYPE_PROJECT with WEBHOOK_SUBSCRIPTION_TYPE_ALERT',
    ],
    [
      { subscription_type: ofAlerts, filter: { kinds: ['a'] } },
      'filter.kinds: is unknown: known are none',
    ],
    [{ filter: { kind: 'a' } }, 'filter.kind: is unknown'],
    [{ filter: { kinds: [] } }, 'filter.kinds: must have at least 1'],
    [{ filter: { kinds: [''] } }, 'filter.kinds[0]: must not be empty'],
    [{ filter: { kinds: Array(21).fill('a') } }, 'filter.kinds: must have at most 20'],
    [{ filter: { kinds: ['x'.repeat(201)] } }, 'filter.kinds[0]: must have at most 200'],
    [{ filter: { properties: [] } }, 'filter.properties: must have at least 1'],
    [{ filter: { properties: Array(11).fill(isSet) } }, 'filter.properties: must have at most 10'],
    [{ filter: { properties: [{ ...isSet, x: 1 }] } }, 'filter.properties[0].x: is unknown'],
    [{ filter: { properties: [{ property: 'a' }] } }, 'filter.properties[0].operator: is required'],
    [
      { filter: { properties: [{ ...isSet, operator: 'FILTER_OPERATOR_LIKE' }] } },
      'filter.properties[0].operator: must be one of FILTER_OPERATOR_EQUALS, ',
    ],
    [
      { filter: { properties: [isSet, { ...isSet, value: 'a' }] } },
      'filter.properties[1].value: IS_SET takes none',
    ],
    [
      { filter: { properties: [{ ...isSet, operator: 'FILTER_OPERATOR_LT', value: 'ten' }] } },
      'filter.properties[0].value: LT takes a number',
    ],
    [
      { filter: { properties: [{ ...isSet, source: 'PROPERTY_SOURCE_PROFILE' }] } },
      'filter.properties[0].source: must be one of PROPERTY_SOURCE_AUTO, PROPERTY_SOURCE_CUSTOM',
    ],
    [
      { filter: { properties: [{ ...isSet, source: 'PROPERTY_SOURCE_AUTO' }] } },
      'filter.properties[0].property: an auto property starts with $',
    ],
    [
      {
        filter: {
          properties: [{ ...isSet, operator: 'FILTER_OPERATOR_CONTAINS', value: 'x'.repeat(257) }],
        },
      },
      'filter.properties[0].value: takes at most 256 code points',
    ],
  ])('to a project is refused: %j', async (changes, message) => {
    const one = { ...projectSubscription(admin.projectId), ...changes };
    const answer = await admin.create({ subscriptions: [one] });
    expect(outcome(answer)).toContain(`400 invalid_argument: content.subscriptions[0].${message}`);
  });

  it('has at most twenty filters of properties together', async () => {
    const of = (count: number) => {
      const filter = { properties: Array(count).fill(isSet) };
      return { ...projectSubscription(admin.projectId), filter };
    };
    expect(outcome(await admin.create({ subscriptions: [of(10), of(10), of(1)] }))).toBe(
      '400 invalid_argument: content.subscriptions: take at most 20 filter.properties together',
    );
    expect((await admin.create({ subscriptions: [of(10), of(10)] })).status).toBe(201);
  });

  it('may be of the alerts of a project, and is shown as it was sent', async () => {
    const one = { ...projectSubscription(admin.projectId), subscription_type: ofAlerts };
    const made = await admin.create({ subscriptions: [one] });
    expect(made.json).toMatchObject({ webhook: { subscriptions: [one] } });
  });

  it('may have names of 150 characters outside the basic plane, and members of later versions', async () => {
    const name = '😀'.repeat(150);
    const made = await admin.create({ name, later: true });
    expect(made.text('webhook.name')).toBe(name);
  });

  it.each([
    ['GET', '', '?nam=a', 'nam: is unknown: known are name'],
    ['GET', '', '?name=a&name=b', 'name: is given twice'],
    ['GET', '/x/logs', '?page_size=0', 'page_size: must be a whole number from 1 to 1000'],
    ['GET', '/x/logs', '?page_size=1e3', 'page_size: must be a whole number from 1 to 1000'],
    ['GET', '/x/logs', '?status=OK', 'status: must be one of SUCCEEDED, '],
    ['GET', '/x/logs', '?from=2026-02-30T00:00:00Z', 'from: must be a time of RFC 3339'],
    ['GET', '/x/logs', '?from=yesterday', 'from: must be a time of RFC 3339'],
  ])('is refused: %s %s%s', async (method, below, query, message) => {
    const answer = await admin.call(method, `${admin.path}${below}${query}`);
    expect(outcome(answer)).toContain(`400 invalid_argument: ${message}`);
  });

  it('names at least one field of a change', async () => {
    const path = `${admin.path}/${randomUUID()}`;
    expect(outcome(await admin.call('PATCH', path, { content: { nmae: 'a' } }))).toContain(
      '400 invalid_argument: content: must have one of name, ',
    );
  });

  it('has a type, a method and an encoding that its path takes', async () => {
    const sent = { authorization: admin.token, body: { content } };
    const asText = { ...sent, headers: { 'content-type': 'text/plain' } };
    expect(outcome(await management.call('POST', admin.path, asText))).toBe(
      '415 invalid_argument: content-type must be application/json',
    );
    const put = await management.call('PUT', admin.path, sent);
    expect(outcome(put)).toBe('405 unimplemented: this path takes GET, POST, HEAD');
    expect(put.headers.get('allow')).toBe('GET, POST, HEAD');
    const head = await management.call('HEAD', admin.path, { authorization: admin.token });
    expect(outcome(head)).toBe('200');
    const unknown = await management.call('POST', `${admin.path}/a/b`, sent);
    expect(outcome(unknown)).toMatch(/^404 unimplemented/);
    // No page of another origin may read an answer.
    expect(put.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('may come by HTTP/2', async () => {
    const session = connect(management.accounts.baseUrl);
    const stream = session.request({
      ':path': admin.path,
      ':method': 'GET',
      authorization: `Bearer ${admin.token}`,
    });
    let text = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    await new Promise((resolve) => stream.on('end', resolve).end());
    expect(JSON.parse(text)).toHaveProperty('webhooks');
    await new Promise<void>((resolve) => session.close(resolve));
  });
});
