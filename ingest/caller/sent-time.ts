// How far a sender's clock is off, as far as its request tells: the query parameter `sent` is the moment of sending by
// that clock. Rules and pipeline add what is found here to each occurTime, and look at the sum alone.

import { type Refusal, refusal } from '../rpc/answer.ts';

/** Less is the way of a request, or a clock that is as right as clocks are. */
const toleratedMs = 60_000;
/** 9999-12-31T23:59:59.999Z, the last moment that a timestamp can name. */
const maxSentMs = 253_402_300_799_999;

/**
 * The milliseconds by which to move the times of a request; 0 where its sender tells no time, or is not to be doubted.
 * A private key's times are the sender's word: it may send what happened long ago.
 */
export function timeShiftOf(
  sent: string | null,
  receiveTimeMs: number,
  credential: 'public' | 'private',
): number | Refusal {
  if (sent === null) return 0;
  const sentMs = /^\d{1,15}$/.test(sent) ? Number(sent) : Number.NaN;
  if (!(sentMs <= maxSentMs)) {
    const message = 'sent: must be the moment of sending in milliseconds since 1970, in digits';
    return refusal('invalid_argument', 'sent_time', message);
  }
  const shiftMs = receiveTimeMs - sentMs;
  return credential === 'public' && Math.abs(shiftMs) > toleratedMs ? shiftMs : 0;
}
