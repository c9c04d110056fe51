// Messages in rooms as a server of a chat reports them, and the room that each webhook of a bench subscribes to.

import { randomUUID } from 'node:crypto';
import type { Subscription } from '../../../platform/webhooks/webhook-record.ts';
import { type Body, bodyOf } from '../../../test/harness/requests/bodies.ts';

const eventType = 'message_sent';

/** One message of now in room `room`. */
export function makeMessageBody(room: number): Body {
  const event = {
    eventId: randomUUID(),
    kind: eventType,
    distinctId: `user-${room}`,
    sessionId: randomUUID(),
    occurTime: new Date().toISOString(),
    customProperties: {
      room_id: { stringValue: roomOf(room) },
      message_id: { stringValue: randomUUID() },
      room_type: { stringValue: 'chat' },
      characters: { intValue: '120' },
      is_reply: { boolValue: true },
    },
  };
  return bodyOf([event], 'chat-server/1.0');
}

export function subscriptionTo(room: number): Subscription {
  return { subjectType: 'ROOM', subjectId: roomOf(room), eventType };
}

function roomOf(room: number): string {
  return `room-${room}`;
}
