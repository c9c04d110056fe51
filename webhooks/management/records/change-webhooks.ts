// The methods that make, change and delete webhooks, and change the organization's secret.

import { newId } from '../../../platform/access/ids.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { sentUrl, type WebhookRecord } from '../../../platform/webhooks/webhook-record.ts';
import { operation } from '../http/operation.ts';
import type { ManagementParts } from '../management-parts.ts';
import { statusOf } from '../schema/event-names.ts';
import {
  createContent,
  secret,
  type UpdateContent,
  updateContent,
  webhook,
} from '../schema/webhook-schema.ts';
import { checkedSubscriptions } from './checked-subscriptions.ts';
import { webhookPath, webhooksPath } from './show-webhooks.ts';
import { webhookJson } from './webhook-json.ts';

/** What only admins may do, and what may leave something behind. */
const changing = { role: 'admin', needsProof: true, rate: 'change', refusals: [409] } as const;

export const createWebhook = operation({
  name: 'createWebhook',
  method: 'POST',
  path: webhooksPath,
  summary: 'Makes a webhook, which is active at once. Its secret is in this answer only.',
  ...changing,
  body: { type: 'object', properties: { content: createContent }, required: ['content'] },
  status: 201,
  answer: { type: 'object', properties: { webhook, secret }, required: ['webhook', 'secret'] },
  async run(parts, { organizationId, body: { content } }) {
    const endpointUrl = checkedUrl(parts, content.endpoint_url);
    const subscriptions = checkedSubscriptions(parts, organizationId, content.subscriptions);
    const now = new Date(parts.clock.nowMs()).toISOString();
    const record: Omit<WebhookRecord, 'sealedSecret'> = {
      id: newId(),
      name: content.name.trim(),
      description: content.description ?? '',
      endpointUrl,
      status: 'ACTIVE',
      subscriptions,
      ...(content.private_only === true && { privateOnly: true }),
      createTime: now,
      updateTime: now,
      activeTime: now,
    };
    const secret = await parts.store.add(organizationId, record);
    return { webhook: webhookJson(organizationId, { ...record, sealedSecret: '' }), secret };
  },
});

export const updateWebhook = operation({
  name: 'updateWebhook',
  method: 'PATCH',
  path: webhookPath,
  summary: 'Changes what content has, and resumes or stops the webhook.',
  ...changing,
  body: { type: 'object', properties: { content: updateContent }, required: ['content'] },
  status: 200,
  answer: { type: 'object', properties: { webhook }, required: ['webhook'] },
  async run(parts, { organizationId, webhookId, body: { content } }) {
    const { endpoint_url: url, subscriptions: asked } = content;
    const endpointUrl = url === undefined ? undefined : checkedUrl(parts, url);
    const subscriptions = asked && checkedSubscriptions(parts, organizationId, asked);
    const now = new Date(parts.clock.nowMs()).toISOString();
    const record = await parts.store.change(organizationId, webhookId, (before) =>
      updated(before, content, {
        endpointUrl: endpointUrl ?? before.endpointUrl,
        subscriptions: subscriptions ?? before.subscriptions,
        now,
      }),
    );
    return { webhook: webhookJson(organizationId, record) };
  },
});

export const deleteWebhook = operation({
  name: 'deleteWebhook',
  method: 'DELETE',
  path: webhookPath,
  summary: 'Deletes a webhook. Deliveries that wait are dropped.',
  role: 'admin',
  rate: 'free',
  refusals: [409],
  status: 204,
  async run({ store }, { organizationId, webhookId }) {
    await store.remove(organizationId, webhookId);
    return {};
  },
});

export const rotateSecret = operation({
  name: 'rotateSecret',
  method: 'POST',
  path: `${webhooksPath}/secret/rotate`,
  summary: 'Makes a new secret for webhooks that are made afterwards. Existing ones keep theirs.',
  ...changing,
  status: 200,
  answer: { type: 'object', properties: { secret }, required: ['secret'] },
  async run({ store }, { organizationId }) {
    return { secret: await store.rotate(organizationId) };
  },
});

/** The form that each attempt judges again and sends to. It may be longer than the text: `ö` becomes `%C3%B6`. */
function checkedUrl({ checkEndpointUrl }: ManagementParts, text: string): string {
  const endpointUrl = sentUrl(text);
  const checked = checkEndpointUrl(endpointUrl);
  if (checked.kind === 'refused') throw invalidArgument('content.endpoint_url', checked.rule);
  return endpointUrl;
}

interface Checked extends Pick<WebhookRecord, 'endpointUrl' | 'subscriptions'> {
  now: string;
}

function updated(
  before: WebhookRecord,
  content: UpdateContent,
  { endpointUrl, subscriptions, now }: Checked,
): WebhookRecord {
  const { privateOnly: wasPrivateOnly, pauseReason, ...kept } = before;
  const status = content.status === undefined ? before.status : statusOf(content.status);
  const privateOnly = content.private_only ?? wasPrivateOnly === true;
  return {
    ...kept,
    name: content.name?.trim() ?? before.name,
    description: content.description ?? before.description,
    endpointUrl,
    subscriptions,
    status,
    ...(privateOnly && { privateOnly: true }),
    ...(status === 'PAUSED' && pauseReason !== undefined && { pauseReason }),
    ...(status !== before.status && status === 'ACTIVE' && { activeTime: now }),
    ...(status !== before.status && status === 'INACTIVE' && { inactiveTime: now }),
    updateTime: now,
  };
}
