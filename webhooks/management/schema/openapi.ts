// The published document (OpenAPI 3.1), made from the table of methods and the catalogue of event types. Nothing of it
// is written by hand beside the schemas and summaries that those have themselves.

import { camelCase } from '../../../platform/webhooks/payload.ts';
import { type EventType, eventTypes } from '../../../platform/webhooks/webhook-record.ts';
import { meaningOf, payloadSchema } from '../catalogue/event-types.ts';
import type { Operation } from '../http/operation.ts';
import type { ObjectSchema, Schema } from './schema.ts';
import { error, namedSchemas } from './webhook-schema.ts';

const intro = [
  'Webhooks of an organization: who hears of which events, what was sent and what came back.',
  'Send an organization key or the access token of a customer as a bearer.',
  'An organization that the caller does not belong to is answered like one that does not exist.',
  'Members of requests and answers that a version does not know are to be ignored; unknown query parameters are refused.',
].join(' ');

const license = { name: 'Apache License 2.0', identifier: 'Apache-2.0' };

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  signature: {
    ...{ type: 'apiKey', in: 'header', name: 'X-Service-Signature' },
    description:
      'Of a delivery: `sha256=` and the hex HMAC-SHA256 of the body, with the secret of the webhook as its key.',
  },
} as const;

export function openApiDocument(operations: readonly Operation[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    paths[operation.path] = { ...path, [operation.method.toLowerCase()]: methodOf(operation) };
  }
  const schemas = Object.entries(namedSchemas).map(([name, schema]) => [name, ownForm(schema)]);
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace webhooks', version: '1', description: intro, license },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    paths,
    webhooks: Object.fromEntries(eventTypes.map((type) => [type, deliveryOf(type)])),
    components: {
      schemas: Object.fromEntries(schemas),
      securitySchemes,
    },
  };
}

function methodOf(operation: Operation): object {
  const { name, summary, role, query, body, status, answer, refusals } = operation;
  const needs = role === undefined ? '' : ` Needs the role ${role}.`;
  const parameters = [...pathParameters(operation.path), ...queryParameters(query)];
  const responses: Record<string, object> = { [status]: responseOf(summary, answer) };
  for (const refusal of refusals) {
    responses[refusal] = {
      ...responseOf(meanings[refusal] ?? 'The request is refused.', error),
      ...((refusal === 429 || refusal === 503) && { headers: retryAfter }),
    };
  }
  return {
    operationId: name,
    summary,
    description: `${summary}${needs}`,
    security: role === undefined ? [] : [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: { required: true, ...jsonOf(body) } }),
    responses,
  };
}

const meanings: Readonly<Record<number, string>> = {
  400: 'A field breaks a rule, or the state of something does not allow it.',
  401: 'No valid credential.',
  403: 'The role does not allow it.',
  404: 'There is none, or none of the caller.',
  409: 'Too many change the same at once: try again.',
  415: 'The content type is not application/json.',
  429: 'Too many requests: try again after Retry-After.',
  500: 'The service failed.',
  503: 'Something that the service needs does not answer: try again.',
  504: 'Reading took too long: ask for less.',
};

const retryAfter = {
  'Retry-After': {
    description: 'Seconds until a retry may help; absent where more than time is needed.',
    schema: { type: 'integer', minimum: 0 },
  },
} as const;

/** What a receiver is sent. */
function deliveryOf(eventType: EventType): object {
  const header = (name: string) => {
    return { name, in: 'header', required: true, schema: { type: 'string' } };
  };
  const { $schema: _same, ...schema } = payloadSchema(eventType);
  return {
    post: {
      operationId: camelCase(`receive_${eventType}`),
      summary: meaningOf[eventType],
      security: [{ signature: [] }],
      parameters: deliveryHeaders.map(header),
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'It arrived.' },
        410: { description: 'The endpoint is gone: the webhook is paused.' },
        default: { description: 'It is tried again.' },
      },
    },
  };
}

const deliveryHeaders = [
  ...['X-Service-Signature', 'X-Service-Event', 'X-Service-Delivery', 'X-Service-Webhook-Id'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
];

function responseOf(description: string, schema: Schema | undefined): object {
  return { description, ...(schema !== undefined && jsonOf(schema)) };
}

function jsonOf(schema: Schema): object {
  return { content: { 'application/json': { schema: published(schema) } } };
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
}

function queryParameters(query: ObjectSchema | undefined): object[] {
  return Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => {
    const required = query?.required.includes(name) === true;
    return {
      name,
      in: 'query',
      required,
      ...(description !== undefined && { description }),
      schema,
    };
  });
}

/** A schema with a name is published once, under it. */
function published(schema: Schema): object {
  const named = Object.entries(namedSchemas).find(([, one]) => one === schema);
  return named === undefined ? ownForm(schema) : { $ref: `#/components/schemas/${named[0]}` };
}

function ownForm(schema: Schema): object {
  if (schema.type === 'array') return { ...schema, items: published(schema.items) };
  if (schema.type !== 'object' || !('properties' in schema)) return schema;
  const members = Object.entries(schema.properties).map(([name, member]) => [
    name,
    published(member),
  ]);
  return { ...schema, properties: Object.fromEntries(members) };
}
