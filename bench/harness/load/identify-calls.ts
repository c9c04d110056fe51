// Identify requests for the benches: each call names a user who was never named before. A request is made once; the
// number in it, which makes the user, is overwritten before each send.

import type { Body } from '../../../test/harness/requests/bodies.ts';

const digits = 8;
const placeholder = '#'.repeat(digits);

/** Ids and traits of a user follow from its number. */
function callOf(prefix: string, number: string): object {
  return {
    externalId: `${prefix}${number}`,
    anonymousId: `anon-${prefix}${number}`,
    traits: { plan: 'pro', seats: 25, email: `${number}@example.com`, active: true },
  };
}

/** A request's body for `renumber`; `prefix` is of letters, digits and hyphens. */
export function makeIdentifyBody(prefix: string): Body {
  const bytes = Buffer.from(JSON.stringify(callOf(prefix, placeholder)));
  const offsets: number[] = [];
  for (let at = bytes.indexOf(placeholder); at >= 0; at = bytes.indexOf(placeholder, at + 1)) {
    offsets.push(at);
  }
  return {
    bytes,
    idOffsets: Uint32Array.from(offsets),
    timeOffsets: new Uint32Array(),
    visits: [],
    sent: 0,
    userAgent: 'bench',
  };
}

/** Writes the number, below 10^8, into each place that holds it. */
export function renumber({ bytes, idOffsets }: Body, number: number): void {
  const text = numberText(number);
  for (const offset of idOffsets) bytes.write(text, offset, 'latin1');
}

export function identifyCall(prefix: string, number: number): object {
  return callOf(prefix, numberText(number));
}

/** SQL condition: the row of a profile has the traits of its call, and no others. */
export function hasTraitsOfCallSql(prefix: string): string {
  const number = `substring(distinct_id, ${prefix.length + 1})`;
  const email = `concat('"', ${number}, '@example.com"')`;
  return `traits = map('plan', '"pro"', 'seats', '25', 'email', ${email}, 'active', 'true')`;
}

function numberText(number: number): string {
  return String(number).padStart(digits, '0');
}
