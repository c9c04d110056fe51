// The catalogue of event types: what each means, the JSON Schema of its payload and an example. Both are made from the
// table of well-known events, by which ingestion checks the same properties. The type `event` has the kind in its data.

import type { JsonObject } from '../../../platform/json.ts';
import { type PayloadValue, payloadOf, renderEvent } from '../../../platform/webhooks/payload.ts';
import {
  type EventType,
  isProjectEventType,
  type ProjectEventType,
} from '../../../platform/webhooks/webhook-record.ts';
import { wellKnownKinds } from '../../../proto/wire/well-known-kinds.ts';
import { alertData, exampleAlert } from './alert-type.ts';
import { exampleExport, exportData } from './export-type.ts';

export const meaningOf: Readonly<Record<EventType, string>> = {
  message_sent: 'A message was sent in a room.',
  message_deleted: 'A message was deleted in a room.',
  message_edited: 'A message was edited in a room.',
  room_recording_published: 'A recording video is ready.',
  room_recording_transcript_published: 'A recording transcript is ready.',
  block_response_sent: 'A block response was submitted.',
  event: 'An event of a kind that the webhook subscribes to came.',
  alert: 'The state of an alert changed.',
  export_ready: 'A kept export is ready: its files can be fetched.',
};

/** Examples belong to no project. */
const noProject = '00000000-0000-0000-0000-000000000000';
const exampleTexts: Readonly<Record<string, string>> = {
  room_id: 'room-1',
  space_id: 'space-1',
  block_id: 'block-1',
  room_type: 'chat',
  message_id: 'message-1',
  recording_id: 'recording-1',
  response_id: 'response-1',
};

interface ExampleOf {
  organizationId: string;
  projectId: string;
  eventId: string;
  occurTimeMs: number;
}

/** What happens in a project besides its events: the schema of its data, and an example. */
const happenings: Readonly<
  Record<ProjectEventType, { data: JsonObject; example: (of: ExampleOf) => string }>
> = {
  alert: { data: alertData, example: exampleAlert },
  export_ready: { data: exportData, example: exampleExport },
};

/** The kind of the example of the type `event`. */
const exampleKind = 'order_refunded';

/** An example of the type, up to the webhook: see payload.ts in platform/webhooks. It says that it is a test. */
export function exampleEvent(
  eventType: EventType,
  of: { organizationId: string; eventId: string; occurTimeMs: number },
): { projectId: string; part: string } {
  if (isProjectEventType(eventType)) {
    const { example } = happenings[eventType];
    return { projectId: noProject, part: example({ ...of, projectId: noProject }) };
  }
  const kind = eventType === 'event' ? exampleKind : eventType;
  const properties = new Map<string, PayloadValue>();
  for (const { snakeName } of listedProperties(eventType)) {
    properties.set(snakeName, exampleTexts[snakeName] ?? `${snakeName}-1`);
  }
  const part = renderEvent({
    ...of,
    projectId: noProject,
    ...(eventType === 'event' ? { eventType, kind } : { eventType }),
    source: 'PRIVATE',
    isTest: true,
    distinctId: 'user-1',
    properties,
  });
  return { projectId: noProject, part };
}

/** The payload of a delivery of the type; the same each time. */
export function examplePayload(eventType: EventType): object {
  const { part } = exampleEvent(eventType, {
    organizationId: '7d3f0b0e-2b0a-4a39-8a55-6a2c36e1d5c1',
    eventId: '0f8fad5b-d9cb-469f-a165-70867728950e',
    occurTimeMs: Date.UTC(2026, 0, 31, 12),
  });
  const webhookId = '5f6d6c1a-9f0e-4c57-a4f5-2a4c5a3b9a11';
  return JSON.parse(payloadOf('9b2f0c1d4e5a6b7c8d9e0f1a2b3c4d5e', webhookId, part));
}

const text = { type: 'string' } as const;
const sourceSchema = {
  enum: ['PUBLIC', 'PRIVATE'],
  description: 'The key that brought the event. Anybody can send what came with a PUBLIC one.',
};

/** Throws for a type of rooms whose kind lists none: its schema would be empty, and its example without ids. */
function listedProperties(eventType: Exclude<EventType, ProjectEventType>) {
  if (eventType === 'event') return [];
  const listed = wellKnownKinds.get(eventType);
  if (listed === undefined) throw new Error(`${eventType} is not among the well-known kinds`);
  return listed;
}

function dataOfEvent(eventType: Exclude<EventType, ProjectEventType>): JsonObject {
  const wellKnown = listedProperties(eventType);
  // Ids too are texts.
  const properties = Object.fromEntries(wellKnown.map(({ camelName }) => [camelName, text]));
  const required = wellKnown.filter(({ isRequired }) => isRequired);
  const ownNames = ['eventId', 'distinctId', ...(eventType === 'event' ? ['kind'] : [])];
  return {
    type: 'object',
    properties: { ...Object.fromEntries(ownNames.map((name) => [name, text])), ...properties },
    required: [...ownNames, ...required.map(({ camelName }) => camelName)],
    description: 'With the custom properties of the event, in camelCase.',
  };
}

/** JSON Schema, 2020-12. */
export function payloadSchema(eventType: EventType): JsonObject {
  const isEvent = !isProjectEventType(eventType);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    description: meaningOf[eventType],
    properties: {
      deliveryId: { ...text, description: 'The same in each attempt.' },
      webhookId: text,
      organizationId: text,
      projectId: text,
      eventType: { const: eventType },
      occurTime: { ...text, format: 'date-time' },
      ...(isEvent && { source: sourceSchema }),
      test: { const: true, description: 'Of a test delivery alone: nothing has happened.' },
      data: isEvent ? dataOfEvent(eventType) : happenings[eventType].data,
    },
    required: [
      ...['deliveryId', 'webhookId', 'organizationId', 'projectId'],
      ...['eventType', 'occurTime', ...(isEvent ? ['source'] : []), 'data'],
    ],
  };
}
