// The scanner as TypeScript sees it: a BatchCreate body in, a verdict out. The reading is done by the WebAssembly
// module that is compiled from the folder of the same name. It knows the shape of sdk.events.v1 and every rule of it,
// but neither limits nor well-known events: it is told.

import { isUtf8 } from 'node:buffer';
import type { WellKnownKinds } from '../well-known-kinds.ts';
import * as layout from './assembly/layout.ts';
import { instantiateScanner, type ScannerLimits } from './module.ts';
import { readRefusal, refuseBody, type ScannerRefusal } from './verdict.ts';

/** A part of the body, in bytes. */
export interface ByteRange {
  start: number;
  end: number;
}

export type Validation =
  | {
      kind: 'ok';
      events: number;
      /** How many of them say `cookieless: true`. */
      cookieless: number;
      /** Of these, the ones whose occurTime is in the UTC day of receipt, or in the one before. */
      cookielessToday: number;
      cookielessYesterday: number;
      /** One of them is within `sessionInactivityMs` of the midnight between these days. */
      cookielessAtMidnight: boolean;
      /** The values of every member named `$ip`, for `blankRanges`; undefined where there are too many to list. */
      ipRanges: readonly ByteRange[] | undefined;
      /** `$bot_score` or `$verified_bot` came from the sender. */
      hasBotSignal: boolean;
      /** An int64 came as a JSON number, which is exact in the text and perhaps nowhere else. */
      hasNumericInt: boolean;
      /** A double came as a string. */
      hasStringDouble: boolean;
    }
  | ScannerRefusal;

export interface Scanner {
  /**
   * Checks a body against every rule in one pass, without keeping or changing it. `receiveTimeMs` is what occurTime
   * is measured against. Never throws for what is in the body.
   */
  validate(body: Uint8Array, receiveTimeMs: number): Validation;
}

/** Up to here the module looks for ASCII faster than a call into Node is made. */
const shortBody = 2_048;
const nothing: readonly ByteRange[] = [];

/** A scanner of its own: one per thread. Throws where the table of well-known events does not fit. */
export function createScanner(limits: ScannerLimits, wellKnown: WellKnownKinds): Scanner {
  const module = instantiateScanner(limits, wellKnown);
  const reserve = module.exported('reserve');
  const isAscii = module.exported('isAscii');
  const scan = module.exported('scan');
  let bytes = new Uint8Array(module.memory.buffer);
  let words = new Int32Array(module.memory.buffer);
  /** The largest body that memory is known to hold. */
  let room = 0;

  /** Views are empty once the buffer that they were made of has grown into another. */
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
    validate(body, receiveTimeMs) {
      if (body.length > room) {
        if (reserve(body.length) === 0) return refuseBody('no_memory');
        room = body.length;
        renewViews();
      }
      bytes.set(body, layout.bodyBase);
      const isKnownAscii = body.length <= shortBody && isAscii(body.length) !== 0;
      if (!isKnownAscii && !isUtf8(body)) return refuseBody('body_utf8');
      scan(body.length, receiveTimeMs);
      renewViews();
      if (word(layout.resultRule) !== 0) {
        const refusal = readRefusal(words, body, layout.bodyBase, module.propertyNames);
        if (refusal !== undefined) return refusal;
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

/** The shortest PropertyValue there is: what takes the place of an `$ip` that could be stored. */
const blankProperty = new TextEncoder().encode('{"intValue":0}');
const space = 0x20;
const zero = 0x30;

/** Overwrites the values of `$ip` with others as long, so that the body stays valid and tells no address. */
export function blankRanges(body: Uint8Array, ranges: readonly ByteRange[]): void {
  for (const { start, end } of ranges) {
    body.fill(space, start, end);
    if (end - start >= blankProperty.length) body.set(blankProperty, start);
    else body[start] = zero;
  }
}
