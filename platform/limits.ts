// Every number of the contract and every bound of ours that more than one file needs, units in the names.
// Source: the interface's own limits where the comment says "contract", our choice elsewhere.

const KiB = 1024;
const MiB = 1024 * KiB;
const hourMs = 3_600_000;

/** Contract: events in one BatchCreate call. */
export const maxEventsPerRequest = 1_000;
/** Contract: Unicode code points of a stringValue. */
export const maxStringValueCodePoints = 1_024;

export const maxPropertiesPerMap = 256;
export const maxPropertyKeyCodePoints = 255;
export const maxKindCharacters = 200;
export const maxDistinctIdCodePoints = 512;
/** Contract: of an anonymousId, in code points; and of a deviceId, which is a UUID. */
export const maxAnonymousIdCodePoints = 255;
export const maxDeviceIdCharacters = 36;
/** Keys of one Identify's traits, and bytes of their JSON text. */
export const maxTraits = 256;
export const maxTraitsBytes = 64 * KiB;
/** occurTime from here … */
export const minOccurTimeMs = Date.UTC(2000, 0, 1);
/** … to this long after receipt: a bound on both sides keeps an insert from spreading over hundreds of partitions. */
export const maxOccurTimeAheadMs = 48 * hourMs;

/** A body after decompression, unless the broker's max_payload less `brokerPayloadReserveBytes` is smaller. */
export const maxBodyBytes = 8 * MiB;
/** Of the broker's max_payload, what a frame's header, context and subject may need beside one body. */
export const brokerPayloadReserveBytes = 64 * KiB;
/** max_payload of the embedded broker. */
export const embeddedBrokerPayloadBytes = 9 * MiB;

/** A frame is closed at either bound, unless one request alone is larger. */
export const maxFrameBytes = 256 * KiB;
export const maxFrameEvents = 10_000;

/** Rows of one insert, and how long the first of them may wait for the others and for the insert before. */
export const maxBatchRows = 50_000;
export const maxBatchWaitMs = 1_000;

/** Contract: a visit without a session id of its own ends after this long without events. */
export const sessionInactivityMs = 30 * 60_000;

/** Client duplicates of one eventId are caught for this long. */
export const duplicateWindowMs = 48 * hourMs;

/** User agents longer than this are cut before they are queued: none that a browser sends is. */
export const maxUserAgentCharacters = 1_024;

/** Whether a text has more code points than `max`; counts them only where its UTF-16 units leave it open. */
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
