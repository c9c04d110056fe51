// One-time codes by time, as RFC 6238 has them: six digits of an HMAC-SHA-1 over the number of the half minute.

import { createHmac, timingSafeEqual } from 'node:crypto';

/** RFC 4226, 4: the length of the key that it recommends. */
export const secretBytes = 20;
const stepMs = 30_000;
const digits = 6;
/** A phone's clock may be behind or ahead, and a person takes a while to type. */
const stepsEitherSide = 1;

/** The code of a step, the number of half minutes since 1970. */
export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', secret).update(counter).digest();
  // RFC 4226, 5.3: the last four bits say where the number is, whose first bit is left out.
  const offset = digest.readUInt8(digest.length - 1) & 0xf;
  const number = digest.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The code that an app shows at a moment. */
export function codeNow(secret: Uint8Array, nowMs: number): string {
  return codeAt(secret, stepAt(nowMs));
}

/**
 * The step of a code that counts now: of this half minute, the one before or the one after, and later than `afterStep`,
 * the step whose code was used last. Undefined for any other text.
 */
export function stepOfCode(
  secret: Uint8Array,
  code: string,
  { nowMs, afterStep = -1 }: { nowMs: number; afterStep?: number },
): number | undefined {
  if (!isOneTimeCode(code)) return undefined;
  const now = stepAt(nowMs);
  for (let step = now - stepsEitherSide; step <= now + stepsEitherSide; step++) {
    const isSame = timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code));
    if (isSame && step > afterStep) return step;
  }
  return undefined;
}

export function isOneTimeCode(text: string): boolean {
  return /^\d{6}$/.test(text);
}

/** RFC 4648, 6, without padding: the form in which apps take a secret. */
export function base32(bytes: Uint8Array): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet.charAt((value >>> (bits - 5)) & 31);
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + alphabet.charAt((value << (5 - bits)) & 31);
}

/** What apps read from a QR code. */
export function otpauthUri(secret: Uint8Array, account: string): string {
  const query = `secret=${base32(secret)}&issuer=Millrace&algorithm=SHA1&digits=${digits}&period=${stepMs / 1_000}`;
  return `otpauth://totp/Millrace:${encodeURIComponent(account)}?${query}`;
}

function stepAt(nowMs: number): number {
  return Math.floor(nowMs / stepMs);
}
