// Webhooks end to end by plain HTTP: the service as a user starts it, with two processes at the port, and a receiver on
// loopback.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verify } from '@octokit/webhooks-methods';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isObject, type JsonObject } from '../platform/json.ts';
import { batchCreate, call, eventually, newEvent, type Sent } from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import {
  type ManagementAnswer,
  type ManagementClient,
  managementClient,
} from './harness/webhooks/management-client.ts';
import { type ReceivedPost, type Receiver, startReceiver } from './harness/webhooks/receiver.ts';

let stack: Stack;
let receiver: Receiver;
let management: ManagementClient;
let key: string;
let webhooks: string;

beforeAll(async () => {
  receiver = await startReceiver();
  stack = await startStack({
    env: { MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8', MILLRACE_WEBHOOK_LOG_BODIES: '1' },
    args: ['--ingest', '2'],
  });
  management = await managementClient(stack.baseUrl);
  const admin = JSON.parse(readFileSync(join(stack.dataDir, 'demo-admin.json'), 'utf8'));
  const login = { email: admin.adminEmail, password: admin.adminPassword };
  const signedIn = await call(stack.baseUrl, '/public.auth.v1.AuthService/SignIn', '', login);
  const authorization = `Bearer ${signedIn.body['accessToken']}`;
  const { organizationId: orgId } = stack;
  const createKey = '/dashboard.orgs.v1.OrgsService/CreateOrgKey';
  const request = { orgId, role: 'ROLE_ADMIN' };
  const made = await call(stack.baseUrl, createKey, '', request, { authorization });
  key = String(made.body['key']);
  webhooks = `/v1/organizations/${orgId}/webhooks`;
});

afterAll(async () => {
  await stack.stop();
  await receiver.close();
});

function manage(method: string, path: string, body?: unknown): Promise<ManagementAnswer> {
  return management.call(method, `${webhooks}${path}`, { authorization: key, body });
}

/** Makes a webhook of one room's chats to a path of the receiver. */
async function create(
  name: string,
  path: string,
  room: string,
): Promise<{ id: string; secret: string }> {
  const subscription = {
    subject_type: 'WEBHOOK_SUBJECT_TYPE_ROOM',
    subject_id: room,
    subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_SENT',
    filter: { room_type: 'chat' },
  };
  const content = { name, endpoint_url: receiver.url(path), subscriptions: [subscription] };
  const made = await manage('POST', '', { content });
  expect(made.status).toBe(201);
  return { id: made.text('webhook.id'), secret: made.text('secret') };
}

/** Makes one and waits until it counts everywhere, by messages of its room. */
async function subscribe(
  ...of: Parameters<typeof create>
): Promise<{ id: string; secret: string }> {
  const made = await create(...of);
  // Fewer and fewer: ten that fail in a row would keep the next ones away for half a minute.
  for (let waitMs = 500; ; waitMs *= 2) {
    await sendMessage(of[2]);
    const came = eventually(
      async () => postsTo(made.id).length > 0,
      (isThere) => isThere,
      waitMs,
    );
    if (await came.catch(() => false)) return made;
  }
}

async function sendMessage(room: string, roomType = 'chat'): Promise<Sent> {
  const event = newEvent({
    kind: 'message_sent',
    distinctId: 'zoë',
    customProperties: {
      room_id: { stringValue: room },
      message_id: { stringValue: 'm1' },
      room_type: { stringValue: roomType },
      text_length: { intValue: '7' },
    },
  });
  expect((await batchCreate(stack, [event], { key: stack.privateKey })).status).toBe(200);
  return event;
}

/** To a webhook; of one event, where one is given. */
function postsTo(id: string, event?: Pick<Sent, 'eventId'>): ReceivedPost[] {
  const posts = receiver.received.filter((post) => header(post, 'x-service-webhook-id') === id);
  if (event === undefined) return posts;
  return posts.filter(({ body }) => JSON.parse(body).data.eventId === event.eventId);
}

async function firstPostTo(id: string, event?: Pick<Sent, 'eventId'>): Promise<ReceivedPost> {
  await expect.poll(() => postsTo(id, event).length).toBeGreaterThan(0);
  const [post] = postsTo(id, event);
  if (post === undefined) throw new Error('no post');
  return post;
}

/** The newest first; of one event, where one is given. */
async function logsOf(id: string, event?: Pick<Sent, 'eventId'>): Promise<JsonObject[]> {
  const { json } = await manage('GET', `/${id}/logs`);
  const logs = Array.isArray(json?.['logs']) ? json['logs'].filter(isObject) : [];
  return event === undefined ? logs : logs.filter((log) => log['event_id'] === event.eventId);
}

function header({ headers }: ReceivedPost, name: string): string {
  return String(headers[name]);
}

it('one event of a room is one post, signed so that outside libraries verify it', async () => {
  const { id, secret } = await subscribe('Chat to CRM', '/200', 'room-1');
  const { id: other } = await subscribe('Other room', '/200', 'room-2');
  const { json } = await manage('GET', '?name=chat%20TO');
  expect(json?.['webhooks']).toMatchObject([{ id, name: 'Chat to CRM' }]);

  const video = await sendMessage('room-1', 'video');
  const event = await sendMessage('room-1');
  const again = await batchCreate(stack, [event], { key: stack.privateKey });
  expect(again.status).toBe(200);
  const post = await firstPostTo(id, event);
  await firstPostTo(id, await sendMessage('room-1'));
  expect(postsTo(id, event)).toHaveLength(1);
  expect([...postsTo(id, video), ...postsTo(other, event)]).toEqual([]);

  const { body, headers } = post;
  const deliveryId = header(post, 'x-service-delivery');
  expect(header(post, 'x-service-event')).toBe('message_sent');
  expect(await verify(secret, body, header(post, 'x-service-signature'))).toBe(true);
  const plain = Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [name, `${text}`]),
  );
  expect(new Webhook(secret).verify(body, plain)).toEqual({
    deliveryId,
    webhookId: id,
    organizationId: stack.organizationId,
    projectId: stack.projectId,
    eventType: 'message_sent',
    occurTime: event.occurTime,
    source: 'PRIVATE',
    data: {
      eventId: event.eventId,
      distinctId: 'zoë',
      roomId: 'room-1',
      roomType: 'chat',
      messageId: 'm1',
      textLength: 7,
    },
  });
  await expect.poll(() => logsOf(id, event)).toHaveLength(1);
  expect(await logsOf(id, event)).toMatchObject([
    {
      delivery_id: deliveryId,
      attempt: 1,
      retry_count: 0,
      trigger: 'SCHEDULED',
      status: 'SUCCEEDED',
      response_code: 200,
      response_body: 'thank you',
      endpoint_url: receiver.url('/200'),
    },
  ]);
});

it('an event of any kind is one post where kind and properties fit', async () => {
  const subscription = {
    subject_type: 'WEBHOOK_SUBJECT_TYPE_PROJECT',
    subject_id: stack.projectId,
    subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_EVENT',
    filter: {
      kinds: ['purchase', 'subscription_started'],
      properties: [
        { property: 'amount', operator: 'FILTER_OPERATOR_GTE', value: '100' },
        { property: '$pathname', operator: 'FILTER_OPERATOR_EQUALS', value: '/checkout' },
      ],
    },
  };
  const content = {
    name: 'Large orders',
    endpoint_url: receiver.url('/200'),
    subscriptions: [subscription],
  };
  const made = await manage('POST', '', { content });
  expect(made.status).toBe(201);
  const [id, secret] = [made.text('webhook.id'), made.text('secret')];
  const send = async (kind: string, amount: number, path = '/checkout'): Promise<Sent> => {
    const event = newEvent({
      kind,
      distinctId: 'zoë',
      autoProperties: { $url: { stringValue: `https://shop.example${path}` } },
      customProperties: {
        amount: { doubleValue: amount },
        order_id: { stringValue: 'o1' },
        subscription_id: { stringValue: 's1' },
      },
    });
    expect((await batchCreate(stack, [event])).status).toBe(200);
    return event;
  };
  await expect
    .poll(
      async () => {
        await send('purchase', 100);
        return postsTo(id).length;
      },
      { interval: 500 },
    )
    .toBeGreaterThan(0);
  const others = [
    await send('purchase', 99.5),
    await send('Purchase', 100),
    await send('purchase', 100, '/cart'),
  ];
  const event = await send('subscription_started', 100.5);
  const post = await firstPostTo(id, event);
  expect(header(post, 'x-service-event')).toBe('event');
  expect(await verify(secret, post.body, header(post, 'x-service-signature'))).toBe(true);
  expect(JSON.parse(post.body)).toMatchObject({
    ...{ webhookId: id, projectId: stack.projectId, eventType: 'event', source: 'PUBLIC' },
    data: { eventId: event.eventId, kind: 'subscription_started', amount: 100.5, orderId: 'o1' },
  });
  for (const other of others) expect(postsTo(id, other)).toEqual([]);
  expect(postsTo(id, event)).toHaveLength(1);
  await expect.poll(() => logsOf(id, event)).toHaveLength(1);
  const { json } = await manage('GET', `/${id}/logs?event_type=event`);
  expect(json?.['logs']).toEqual(
    expect.arrayContaining([expect.objectContaining({ event_type: 'event', status: 'SUCCEEDED' })]),
  );
  const sent = await manage('POST', `/${id}/test`, { event_type: 'event' });
  const testPost = await firstPostTo(id, { eventId: sent.text('event_id') });
  expect(JSON.parse(testPost.body)).toMatchObject({ test: true, data: { kind: 'order_refunded' } });
});

it('a failed delivery waits for its retry, and is sent again at once by hand', async () => {
  const { id, secret } = await subscribe('Broken', '/500', 'room-3');
  const event = await sendMessage('room-3');
  const { body } = await firstPostTo(id, event);
  await expect.poll(() => logsOf(id, event)).toHaveLength(1);
  const [failed] = await logsOf(id, event);
  expect(failed).toMatchObject({
    status: 'FAILED_WILL_RETRY',
    response_code: 500,
    error: 'http_status',
    attempt: 1,
  });
  const timeOf = (name: string) => Date.parse(String(failed?.[name]));
  // The attempt may take seconds of its own.
  const waitMs = timeOf('next_attempt_time') - timeOf('attempt_time');
  expect(waitMs).toBeGreaterThanOrEqual(60_000);
  expect(waitMs).toBeLessThan(90_000);

  const deliveryId = String(failed?.['delivery_id']);
  const redelivered = await manage('POST', `/${id}/deliveries/${deliveryId}/redeliver`);
  expect(redelivered.json).toEqual({ delivery_id: deliveryId });
  await expect.poll(() => postsTo(id, event).length).toBe(2);
  const second = postsTo(id, event).at(-1);
  if (second === undefined) throw new Error('no post');
  expect(second.body).toBe(body);
  expect(header(second, 'x-service-delivery')).toBe(deliveryId);
  expect(await verify(secret, second.body, header(second, 'x-service-signature'))).toBe(true);
  await expect.poll(() => logsOf(id, event)).toHaveLength(2);
  expect((await logsOf(id, event))[0]).toMatchObject({
    trigger: 'MANUAL',
    delivery_id: deliveryId,
  });

  const aroundMs = Date.parse(event.occurTime);
  const recovered = await manage('POST', `/${id}/recover`, {
    from: new Date(aroundMs - 60_000).toISOString(),
    to: new Date(aroundMs + 600_000).toISOString(),
    statuses: ['FAILED_WILL_RETRY', 'EXHAUSTED'],
  });
  const ids = recovered.json?.['delivery_ids'];
  expect(ids).toContain(deliveryId);
  expect(ids).toHaveLength(new Set(Array.isArray(ids) ? ids : []).size);
  await expect.poll(() => postsTo(id, event).length).toBe(3);
});

it('a rotation concerns webhooks that are made afterwards', async () => {
  const before = await create('Before', '/204', 'room-4');
  const rotated = (await manage('POST', '/secret/rotate')).text('secret');
  const after = await subscribe('After', '/204', 'room-4');
  expect(after.secret).toBe(rotated);
  expect(before.secret).not.toBe(rotated);
  const event = await sendMessage('room-4');
  for (const { id, secret } of [before, after]) {
    const post = await firstPostTo(id, event);
    expect(await verify(secret, post.body, header(post, 'x-service-signature'))).toBe(true);
  }
});

it('a test reaches a webhook; a stopped or deleted one is sent nothing', async () => {
  const { id } = await create('Tested', '/umlauts', 'room-5');
  const sent = await manage('POST', `/${id}/test`, { event_type: 'room_recording_published' });
  const post = await firstPostTo(id);
  expect(header(post, 'x-service-delivery')).toBe(sent.text('delivery_id'));
  expect(JSON.parse(post.body)).toMatchObject({
    test: true,
    data: { recordingId: 'recording-1' },
  });
  await expect.poll(() => logsOf(id, { eventId: sent.text('event_id') })).toHaveLength(1);

  await manage('PATCH', `/${id}`, { content: { status: 'WEBHOOK_STATUS_INACTIVE' } });
  const { id: deleted } = await create('Deleted', '/200', 'room-5');
  expect((await manage('DELETE', `/${deleted}`)).status).toBe(204);
  // What is made later counts only once those changes count.
  const { id: witness } = await subscribe('Witness', '/200', 'room-5');
  await firstPostTo(witness, await sendMessage('room-5'));
  expect([postsTo(id).length, postsTo(deleted).length]).toEqual([1, 0]);
  expect(await logsOf(id)).toHaveLength(1);
  expect((await manage('GET', `/${deleted}/logs`)).status).toBe(404);
});

it('an endpoint that is gone pauses its webhook, and the admins get a mail', async () => {
  const { id } = await subscribe('Gone', '/410', 'room-6');
  const mails = join(stack.dataDir, 'mail');
  const mailsOfPause = () => {
    const texts = existsSync(mails) ? readdirSync(mails).map((name) => join(mails, name)) : [];
    return texts.map((file) => readFileSync(file, 'utf8')).filter((text) => text.includes(id));
  };
  await expect.poll(mailsOfPause).toHaveLength(1);
  const [mail] = mailsOfPause();
  expect(mail).toContain('Subject: Webhook Gone is paused');
  expect(mail).toContain('To: admin@millrace.example');
  expect(mail).toContain(`PATCH ${stack.baseUrl}${webhooks}/${id} with`);
  const paused = (await manage('GET', '')).json?.['webhooks'];
  const status = 'WEBHOOK_STATUS_PAUSED';
  expect(paused).toEqual(expect.arrayContaining([expect.objectContaining({ id, status })]));
});
