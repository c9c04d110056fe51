// The methods that everybody may call: the catalogue of event types, and the document of the interface itself.

import { eventTypes as allEventTypes } from '../../../platform/webhooks/webhook-record.ts';
import { operation } from '../http/operation.ts';
import { allSubscriptionTypeNames, subscriptionTypeName } from '../schema/event-names.ts';
import { eventType } from '../schema/webhook-schema.ts';
import { examplePayload, meaningOf, payloadSchema } from './event-types.ts';

const eventTypes = allEventTypes.map((type) => {
  return {
    event_type: type,
    subscription_type: subscriptionTypeName(type),
    description: meaningOf[type],
    schema: payloadSchema(type),
    example: examplePayload(type),
  };
});

export const listEventTypes = operation({
  name: 'listEventTypes',
  method: 'GET',
  path: '/v1/webhook-event-types',
  summary: 'The catalogue of event types.',
  rate: 'free',
  status: 200,
  answer: {
    type: 'object',
    properties: {
      event_types: {
        type: 'array',
        maxItems: allEventTypes.length,
        items: {
          type: 'object',
          properties: {
            event_type: eventType,
            subscription_type: { type: 'string', enum: allSubscriptionTypeNames },
            description: { type: 'string' },
            schema: {
              type: 'object',
              additionalProperties: true,
              description: 'The JSON Schema (2020-12) of the payload.',
            },
            example: {
              type: 'object',
              additionalProperties: true,
              description: 'A payload.',
            },
          },
          required: ['event_type', 'subscription_type', 'description', 'schema', 'example'],
        },
      },
    },
    required: ['event_types'],
  },
  async run() {
    return { event_types: eventTypes };
  },
});

export const getOpenApi = operation({
  name: 'getOpenApi',
  method: 'GET',
  path: '/openapi.json',
  summary: 'This document.',
  rate: 'free',
  status: 200,
  answer: { type: 'object', additionalProperties: true },
  async run({ openApi }) {
    return openApi();
  },
});
