// The schemas of a webhook, its subscriptions and its log as requests and answers hold them. They are checked by
// check-value.ts, published by openapi.ts, and are the types of the methods' code.

import {
  maxKindCharacters,
  maxPropertyKeyCodePoints,
  maxStringValueCodePoints,
} from '../../../platform/limits.ts';
import { attemptStatuses, errorClasses } from '../../../platform/webhooks/attempt-record.ts';
import { triggers } from '../../../platform/webhooks/delivery.ts';
import { eventTypes, maxSubscriptions } from '../../../platform/webhooks/webhook-record.ts';
import { FilterOperator, FilterOperatorSchema } from '../../../proto/gen/common/v1/filter_pb.js';
import { allSubscriptionTypeNames, statusNames, subjectTypeNames } from './event-names.ts';
import type { ObjectSchema, Schema, ValueOf } from './schema.ts';

/** Of one subscription, and of all of a webhook: each is tried on every event of the kind. */
const maxPropertyFilters = 10;
export const maxFiltersOfWebhook = 20;
const maxSubscribedKinds = 20;

const sourceNames: readonly string[] = ['PROPERTY_SOURCE_AUTO', 'PROPERTY_SOURCE_CUSTOM'];
const operatorNames = FilterOperatorSchema.values
  .filter(({ number }) => number !== FilterOperator.UNSPECIFIED)
  .map(({ name }) => name);

const id = { type: 'string' } as const satisfies Schema;
const time = {
  type: 'string',
  format: 'date-time',
  description: 'RFC 3339, in UTC with milliseconds.',
} as const satisfies Schema;

export const eventType = {
  type: 'string',
  enum: eventTypes,
  description:
    'As in the header X-Service-Event: the kind of an event in a room, event for one of any kind, alert, or export_ready.',
} as const satisfies Schema;

/** common.v1.PropertyFilter in protobuf's JSON. */
const propertyFilter = {
  type: 'object',
  properties: {
    property: {
      type: 'string',
      minLength: 1,
      maxLength: maxPropertyKeyCodePoints,
      description: "The name of an event's property; names with $ are the service's own.",
    },
    operator: { type: 'string', enum: operatorNames },
    value: {
      type: 'string',
      maxLength: maxStringValueCodePoints,
      description: 'Of the operators that take one value.',
    },
    values: {
      type: 'array',
      items: { type: 'string', maxLength: maxStringValueCodePoints },
      maxItems: 100,
      description: 'Of IN, NOT_IN, BETWEEN and NOT_BETWEEN.',
    },
    source: {
      type: 'string',
      enum: sourceNames,
      description: 'What the name says anyway: AUTO with $, CUSTOM without.',
    },
  },
  required: ['property', 'operator'],
  additionalProperties: false,
} as const satisfies ObjectSchema;

const subscription = {
  type: 'object',
  properties: {
    subject_type: {
      type: 'string',
      enum: subjectTypeNames,
      description:
        'PROJECT goes with the subscription types EVENT, ALERT and EXPORT_READY, the others with the other types.',
    },
    subject_id: {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'The id of the room, space or block, as its events hold it; or of a project of the organization.',
    },
    subscription_type: { type: 'string', enum: allSubscriptionTypeNames },
    filter: {
      type: 'object',
      properties: {
        room_type: {
          type: 'string',
          minLength: 1,
          maxLength: 100,
          description:
            'Only rooms of this type match, such as chat, post or video. Not of the types EVENT, ALERT and EXPORT_READY.',
        },
        kinds: {
          type: 'array',
          items: { type: 'string', minLength: 1, maxLength: maxKindCharacters },
          minItems: 1,
          maxItems: maxSubscribedKinds,
          description:
            'Of the type EVENT alone: the exact kinds of events. Absent, every kind matches.',
        },
        properties: {
          type: 'array',
          items: propertyFilter,
          minItems: 1,
          maxItems: maxPropertyFilters,
          description: `Of the type EVENT alone: all must hold. The subscriptions of a webhook have at most ${maxFiltersOfWebhook} together.`,
        },
      },
      required: [],
      additionalProperties: false,
    },
  },
  required: ['subject_type', 'subject_id', 'subscription_type'],
} as const satisfies ObjectSchema;
export type SubscriptionJson = ValueOf<typeof subscription>;

const content = {
  name: {
    type: 'string',
    minLength: 1,
    maxLength: 150,
    // Some visible character, no control characters.
    pattern: '^[^\\p{Cc}]*\\S[^\\p{Cc}]*$',
  },
  description: { type: 'string', maxLength: 2_000 },
  endpoint_url: {
    type: 'string',
    minLength: 1,
    maxLength: 2_048,
    // The parser of URLs would leave these characters out.
    pattern: '^[^\\s\\p{Cc}]+$',
    format: 'uri',
    description:
      'An https URL in the public internet, or what the operator has opened. It is kept, shown and sent to in the form that parsing gives it: https://Example.com:443 becomes https://example.com/. That form has at most 2,048 characters.',
  },
  subscriptions: {
    type: 'array',
    items: subscription,
    minItems: 1,
    maxItems: maxSubscriptions,
    description: 'An event that matches several of them is delivered once.',
  },
  private_only: {
    type: 'boolean',
    description:
      'Events that came with a public key, such as those of browsers, do not trigger it.',
  },
} as const satisfies Record<string, Schema>;

export const createContent = {
  type: 'object',
  properties: content,
  required: ['name', 'endpoint_url', 'subscriptions'],
} as const satisfies ObjectSchema;
export type CreateContent = ValueOf<typeof createContent>;

export const updateContent = {
  type: 'object',
  properties: {
    ...content,
    status: {
      type: 'string',
      enum: ['WEBHOOK_STATUS_ACTIVE', 'WEBHOOK_STATUS_INACTIVE'],
      description:
        'ACTIVE resumes a paused webhook, and failures count anew. While INACTIVE, nothing is matched, and retries that wait are dropped. Only the service sets PAUSED.',
    },
  },
  required: [],
  minProperties: 1,
  description: 'Members that are absent stay as they are.',
} as const satisfies ObjectSchema;
export type UpdateContent = ValueOf<typeof updateContent>;

export const webhook = {
  type: 'object',
  properties: {
    id,
    organization_id: id,
    name: { type: 'string' },
    description: { type: 'string' },
    endpoint_url: { type: 'string', format: 'uri' },
    status: { type: 'string', enum: statusNames },
    pause_reason: {
      type: 'string',
      enum: ['NO_SUCCESS_FOR_DAYS', 'FAILURES_IN_A_ROW', 'GONE'],
      description: 'Present while PAUSED.',
    },
    subscriptions: { type: 'array', items: subscription, maxItems: maxSubscriptions },
    private_only: { type: 'boolean' },
    create_time: time,
    update_time: time,
  },
  required: [
    'id',
    'organization_id',
    'name',
    'description',
    'endpoint_url',
    'status',
    'subscriptions',
    'private_only',
    'create_time',
    'update_time',
  ],
} as const satisfies ObjectSchema;
export type WebhookJson = ValueOf<typeof webhook>;

export const secret = {
  type: 'string',
  description:
    'whsec_ and the base64 of 32 random bytes. It cannot be read again. The whole text keys X-Service-Signature, the decoded bytes key webhook-signature.',
} as const satisfies Schema;

const largest = Number.MAX_SAFE_INTEGER;
const count = { type: 'integer', minimum: 0, maximum: largest } as const satisfies Schema;

export const log = {
  type: 'object',
  properties: {
    delivery_id: id,
    event_id: id,
    event_type: { type: 'string' },
    attempt: { ...count, description: '1 for the first; 0 where nothing was sent.' },
    retry_count: { ...count, description: 'Attempts of the schedule before this one.' },
    trigger: { type: 'string', enum: triggers },
    status: { type: 'string', enum: attemptStatuses },
    response_code: { ...count, description: '0 without an answer.' },
    error: {
      type: 'string',
      enum: ['', ...errorClasses],
      description: 'Empty for a success.',
    },
    duration_ms: count,
    response_body: { type: 'string', description: 'At most 16 KiB.' },
    endpoint_url: { type: 'string' },
    attempt_time: time,
    next_attempt_time: { ...time, description: 'Absent where no attempt follows.' },
  },
  required: [
    'delivery_id',
    'event_id',
    'event_type',
    'attempt',
    'retry_count',
    'trigger',
    'status',
    'response_code',
    'error',
    'duration_ms',
    'response_body',
    'endpoint_url',
    'attempt_time',
  ],
  description: 'One attempt, or a delivery that was not sent.',
} as const satisfies ObjectSchema;
export type LogJson = ValueOf<typeof log>;

export const deliveryId = {
  type: 'string',
  description: 'As in the header X-Service-Delivery; it stays the same in each attempt.',
} as const satisfies Schema;

export const error = {
  type: 'object',
  properties: {
    code: { type: 'string', description: 'A code of the RPC interface, such as not_found.' },
    message: { type: 'string', description: 'Names the field and the rule.' },
  },
  required: ['code', 'message'],
} as const satisfies ObjectSchema;

/** The schemas that the published document names. */
export const namedSchemas: Readonly<Record<string, Schema>> = {
  Webhook: webhook,
  Subscription: subscription,
  PropertyFilter: propertyFilter,
  CreateContent: createContent,
  UpdateContent: updateContent,
  Log: log,
  Error: error,
};
