// The numbers of the contract for events, and every bound that more than one file needs, with units in the names. Where
// a comment says "contract", here or elsewhere, the published interface sets the limit; all others are our choice. A
// bound of one file stays in that file. The contract for webhooks sets the delays of retries
// (webhooks/webhook-streams.ts) and that their log is kept for 30 days (sql/migrations/0017_webhook_attempts.sql).

import { hourMs } from './clock.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

/** Contract: events in one BatchCreate call. */
export const maxEventsPerRequest = 1_000;
/** Contract: Unicode code points of a stringValue. */
export const maxStringValueCodePoints = 1_024;

/** Objects and lists of a JSON body in one another, or messages of a binary one: the default of protobuf parsers. */
export const maxBodyDepth = 100;
/** Of any JSON object in a body, known to a rule or not: no sender may choose how many names are compared. */
export const maxMembersPerObject = 10_000;
/** Of a binary body, in all its messages: 1,000 events of 258 properties, each of four fields. */
export const maxFieldsPerBody = maxEventsPerRequest * 4 * 258;
export const maxPropertiesPerMap = 256;
export const maxPropertyKeyCodePoints = 255;
export const maxKindCharacters = 200;
export const maxDistinctIdCodePoints = 512;
/** Contract: the length of an anonymousId, in code points, and of a deviceId, which is a UUID. */
export const maxAnonymousIdCodePoints = 255;
export const maxDeviceIdCharacters = 36;
/** The keys of one Identify's traits, and the bytes of their JSON text. */
export const maxTraits = 256;
export const maxTraitsBytes = 64 * KiB;
/**
 * Contract: how deep the value of one trait nests. A value that is an object or a list is one level, each object or
 * list in it one more; the traits themselves are none. In protobuf a level is two messages, and readers take a hundred.
 */
export const maxTraitLevels = 20;
/** occurTime lies between this moment … */
export const minOccurTimeMs = Date.UTC(2000, 0, 1);
/** … and this long after receipt. Which partitions these moments lie in is pipeline/columns/partitions.ts. */
export const maxOccurTimeAheadMs = 48 * hourMs;

/** Questions are about moments between these two: every event lies there, and DateTime64(3) holds both with room. */
export const minQuestionMs = 0;
export const maxQuestionMs = Date.UTC(2200, 0, 1);

/** A body after decompression; less where the broker's max_payload minus `brokerPayloadReserveBytes` is smaller. */
export const maxBodyBytes = 8 * MiB;
/** The part of the broker's max_payload that is left for a frame's header, context and subject beside one body. */
export const brokerPayloadReserveBytes = 64 * KiB;
/** max_payload of the embedded broker. */
export const embeddedBrokerPayloadBytes = 9 * MiB;

/**
 * Ids merged into one profile. An Alias of it writes the rows of all of them, and is the largest work of one message,
 * which others of its shard wait for (pipeline/consume/turns/member-turns.ts). A page that gives everybody the same id
 * by mistake must not grow it without end.
 */
export const maxProfileMembers = 10_000;
/**
 * Characters of the traits that all ids merged into one profile hold. An Alias, a deletion or an unmerge of the profile
 * reads these traits. An Alias writes them in one block; the engine refuses blocks beyond some 75 million characters.
 */
export const maxMemberTraitsLength = 16 * MiB;
/** A body of Identify or Alias: six times the longest traits and ids, because JSON may escape each of their bytes. */
export const maxIdentityBodyBytes = 512 * KiB;

/** A frame is closed at either bound, unless one request alone is larger. */
export const maxFrameBytes = 256 * KiB;
export const maxFrameEvents = 10_000;
/** Changes of profiles in one frame, which is stored in one block: each may write 256 Ki characters of traits. */
export const maxFrameChanges = 128;

/**
 * The rows of one insert, and the time that the first of them may wait for the others and for the insert before. More
 * rows of as many visitors and long addresses would take more memory than an insert has in the least engine.
 */
export const maxBatchRows = 100_000;
export const maxBatchWaitMs = 1_000;

/** Contract: a visit whose events name no session ends after this long without events. */
export const sessionInactivityMs = 30 * 60_000;

/** Client duplicates of one eventId are caught for this long. */
export const duplicateWindowMs = 48 * hourMs;

/** The longest wait of a timer, 24 days: Node takes a longer time for a millisecond. */
export const maxTimerMs = 2_147_483_647;

/** Longer user agents are cut before they are queued; no browser sends one. */
export const maxUserAgentCharacters = 1_024;

/** Whether a text has more code points than `max`; counts them only where its number of UTF-16 units cannot tell. */
export function hasMoreCodePoints(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > 2 * max) return true;
  let codePoints = 0;
  for (const _ of text) codePoints++;
  return codePoints > max;
}

if (maxBodyBytes + brokerPayloadReserveBytes > embeddedBrokerPayloadBytes) {
  throw new Error('limits: the largest body must fit into one message of the embedded broker');
}
