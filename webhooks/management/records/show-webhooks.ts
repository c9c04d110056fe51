// The methods that show webhooks, and where webhooks are found.

import { maxWebhooks } from '../../../platform/webhooks/webhook-record.ts';
import { operation } from '../http/operation.ts';
import { webhook } from '../schema/webhook-schema.ts';
import { webhookJson } from './webhook-json.ts';

export const webhooksPath = '/v1/organizations/{organization_id}/webhooks';
export const webhookPath = `${webhooksPath}/{webhook_id}`;

export const listWebhooks = operation({
  name: 'listWebhooks',
  method: 'GET',
  path: webhooksPath,
  summary: "The organization's webhooks.",
  role: 'viewer',
  rate: 'read',
  query: {
    type: 'object',
    properties: {
      name: {
        type: 'string',
        maxLength: 150,
        description: 'A part of the name, in capitals or not.',
      },
    },
    required: [],
    additionalProperties: false,
  },
  status: 200,
  answer: {
    type: 'object',
    properties: {
      webhooks: {
        type: 'array',
        items: webhook,
        maxItems: maxWebhooks,
        description: 'In the order of their creation.',
      },
    },
    required: ['webhooks'],
  },
  async run({ store }, { organizationId, query }) {
    const part = (query.name ?? '').toLowerCase();
    const records = await store.list(organizationId);
    const named = records.filter(({ name }) => name.toLowerCase().includes(part));
    return { webhooks: named.map((record) => webhookJson(organizationId, record)) };
  },
});

export const getWebhook = operation({
  name: 'getWebhook',
  method: 'GET',
  path: webhookPath,
  summary: 'One webhook.',
  role: 'viewer',
  rate: 'read',
  status: 200,
  answer: { type: 'object', properties: { webhook }, required: ['webhook'] },
  async run({ store }, { organizationId, webhookId }) {
    return { webhook: webhookJson(organizationId, await store.find(organizationId, webhookId)) };
  },
});
