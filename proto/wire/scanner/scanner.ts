// The scanner for TypeScript: takes a BatchCreate body and returns a verdict. The WebAssembly module that is compiled
// from assembly/ does the reading. It has every rule of the typed shape; its caller provides the limits and the well-
// known kinds.

import { isUtf8 } from 'node:buffer';
import type { WellKnownKinds } from '../well-known-kinds.ts';
import * as layout from './assembly/layout.ts';
import { instantiateScanner, type ScannerLimits } from './module.ts';
import { bodyViolation, readViolation, type ScannerViolation } from './verdict.ts';

/** A range of the body, in bytes. */
interface ByteRange {
  start: number;
  end: number;
}

export type Validation =
  | {
      kind: 'ok';
      events: number;
      /** Events that say `cookieless: true`. */
      cookieless: number;
      /** Cookieless events whose occurTime is in the UTC day of receipt, and in the day before. */
      cookielessToday: number;
      cookielessYesterday: number;
      /** A cookieless event is within `sessionInactivityMs` of the midnight between these days. */
      cookielessAtMidnight: boolean;
      /** The values of all members named `$ip`, for `blankRanges`; undefined where there are too many to list. */
      ipRanges: readonly ByteRange[] | undefined;
      /** The sender set `$bot_score` or `$verified_bot`. */
      hasBotSignal: boolean;
      /** An int64 came as a JSON number: the text is exact, a parsed number may be rounded. */
      hasNumericInt: boolean;
      /** A double came as a string. */
      hasStringDouble: boolean;
    }
  | ScannerViolation;

export interface Scanner {
  /**
   * Checks a body against every rule in one pass, and neither keeps nor changes it. occurTime, moved by `timeShiftMs`,
   * is compared with `receiveTimeMs`, and lies at most `maxAgeMs` before it: by default no bound. `sessionOptional`: an
   * event that names its user may leave the session id out. Throws for no content of the body.
   */
  validate(
    body: Uint8Array,
    receiveTimeMs: number,
    timeShiftMs?: number,
    maxAgeMs?: number,
    sessionOptional?: boolean,
  ): Validation;
}

/** For bodies up to this length the module's check for ASCII is faster than a call into Node. */
const shortBody = 2_048;
const nothing: readonly ByteRange[] = [];

const unbounded = Number.POSITIVE_INFINITY;

/** A scanner for one thread. Throws where the table of well-known kinds does not fit. */
export function createScanner(limits: ScannerLimits, wellKnown: WellKnownKinds): Scanner {
  const module = instantiateScanner(limits, wellKnown);
  const reserve = module.exported('reserve');
  const isAscii = module.exported('isAscii');
  const scan = module.exported('scan');
  const shiftTimes = module.exported('shiftTimes');
  const letSessionsBeAbsent = module.exported('letSessionsBeAbsent');
  let bytes = new Uint8Array(module.memory.buffer);
  let words = new Int32Array(module.memory.buffer);
  /** The length of the largest body so far, for which memory has room. */
  let room = 0;

  /** Memory that grows gets another buffer, and views of the old one are empty. */
  function renewViews(): void {
    if (bytes.length !== 0) return;
    bytes = new Uint8Array(module.memory.buffer);
    words = new Int32Array(module.memory.buffer);
  }

  const word = (address: number): number => words[address >> 2] ?? 0;

  function ipRanges(): readonly ByteRange[] | undefined {
    const count = word(layout.resultIpCount);
    if (count === 0) return nothing;
    if ((word(layout.resultFlags) & layout.flagIpOverflow) !== 0) return undefined;
    return Array.from({ length: count }, (_, index) => ({
      start: word(layout.ipRanges + index * 8) - layout.bodyBase,
      end: word(layout.ipRanges + index * 8 + 4) - layout.bodyBase,
    }));
  }

  return {
    validate(body, receiveTimeMs, timeShiftMs = 0, maxAgeMs = unbounded, sessionOptional = false) {
      if (body.length > room) {
        if (reserve(body.length) === 0) return bodyViolation('no_memory');
        room = body.length;
        renewViews();
      }
      bytes.set(body, layout.bodyBase);
      const isKnownAscii = body.length <= shortBody && isAscii(body.length) !== 0;
      if (!isKnownAscii && !isUtf8(body)) return bodyViolation('body_utf8');
      shiftTimes(timeShiftMs);
      letSessionsBeAbsent(sessionOptional ? 1 : 0);
      scan(body.length, receiveTimeMs, maxAgeMs);
      renewViews();
      if (word(layout.resultRule) !== 0) {
        const violation = readViolation(words, body, layout.bodyBase, module.propertyNames);
        if (violation !== undefined) return violation;
      }
      const flags = word(layout.resultFlags);
      return {
        kind: 'ok',
        events: word(layout.resultEvents),
        cookieless: word(layout.resultCookieless),
        cookielessToday: word(layout.resultCookielessToday),
        cookielessYesterday: word(layout.resultCookielessYesterday),
        cookielessAtMidnight: (flags & layout.flagCookielessAtMidnight) !== 0,
        ipRanges: ipRanges(),
        hasBotSignal: (flags & layout.flagBotSignal) !== 0,
        hasNumericInt: (flags & layout.flagNumericInt) !== 0,
        hasStringDouble: (flags & layout.flagStringDouble) !== 0,
      };
    },
  };
}

/** The shortest PropertyValue, which replaces the value of an `$ip`. */
const blankProperty = new TextEncoder().encode('{"intValue":0}');
const space = 0x20;
const zero = 0x30;

/** Overwrites the values of `$ip` with values of the same length: the body stays valid and holds no address. */
export function blankRanges(body: Uint8Array, ranges: readonly ByteRange[]): void {
  for (const { start, end } of ranges) {
    body.fill(space, start, end);
    if (end - start >= blankProperty.length) body.set(blankProperty, start);
    else body[start] = zero;
  }
}
