// What an organization's webhooks subscribe to in rooms, as a set of hashes: builders' threads ask it which events are
// worth rendering. It lies in shared memory, so that a verdict hands over thousands of subscriptions at the price of
// one. Two subscriptions may have one hash, so the exact answer is subscriptions.ts's.

import type { Subjects } from '../../platform/webhooks/payload.ts';
import {
  type RoomEventType,
  type RoomSubjectType,
  type RoomSubscription,
  roomEventTypes,
  roomSubjectTypes,
} from '../../platform/webhooks/webhook-record.ts';

/** Hashes in open addressing; at least twice as many slots as hashes, 0 is a free one. */
export type SubscriptionFilter = Int32Array<SharedArrayBuffer>;

const free = 0;

export function makeSubscriptionFilter(
  subscriptions: readonly RoomSubscription[],
): SubscriptionFilter {
  const slots = 2 ** Math.ceil(Math.log2(subscriptions.length * 2 + 1));
  const filter = new Int32Array(new SharedArrayBuffer(slots * 4));
  for (const { eventType, subjectType, subjectId, roomType } of subscriptions) {
    const hash = withRoomType(hashOf(eventType, subjectType, subjectId), roomType);
    let slot = hash & (slots - 1);
    while (filter[slot] !== free && filter[slot] !== hash) slot = (slot + 1) & (slots - 1);
    filter[slot] = hash;
  }
  return filter;
}

/** Whether it was made of no subscription. Every other one has two slots or more. */
export function isEmpty(filter: SubscriptionFilter): boolean {
  return filter.length === 1;
}

/** False where no subscription matches; true where one does, and once in a billion where none does. */
export function mayMatch(
  filter: SubscriptionFilter,
  eventType: RoomEventType,
  { roomId, spaceId, blockId, roomType }: Subjects,
): boolean {
  const about = (subjectType: RoomSubjectType, subjectId: string | undefined): boolean => {
    if (subjectId === undefined) return false;
    const hash = hashOf(eventType, subjectType, subjectId);
    return (
      has(filter, withRoomType(hash, undefined)) ||
      (roomType !== undefined && has(filter, withRoomType(hash, roomType)))
    );
  };
  return about('ROOM', roomId) || about('SPACE', spaceId) || about('BLOCK', blockId);
}

function has(filter: SubscriptionFilter, hash: number): boolean {
  const mask = filter.length - 1;
  for (let slot = hash & mask; filter[slot] !== free; slot = (slot + 1) & mask) {
    if (filter[slot] === hash) return true;
  }
  return false;
}

function hashOf(eventType: RoomEventType, subjectType: RoomSubjectType, subjectId: string): number {
  const first = roomEventTypes.indexOf(eventType) * 8 + roomSubjectTypes.indexOf(subjectType);
  return mixText(mix(0x811c_9dc5, first), subjectId);
}

/** Never `free`. */
function withRoomType(hash: number, roomType: string | undefined): number {
  const whole = roomType === undefined ? hash : mixText(mix(hash, 1), roomType);
  const spread = Math.imul(whole ^ (whole >>> 16), 0x85eb_ca6b);
  return (spread ^ (spread >>> 13)) | 0 || 1;
}

function mixText(hash: number, text: string): number {
  let mixed = mix(hash, text.length);
  for (let index = 0; index < text.length; index++) mixed = mix(mixed, text.charCodeAt(index));
  return mixed;
}

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x0100_0193);
}
