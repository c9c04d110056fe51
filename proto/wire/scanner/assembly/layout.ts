// Where everything lies in the scanner's memory. Plain constants, so that both compilers read this file.

/** What the last call found, as 32-bit numbers at these addresses. */
export const resultRule = 64;
export const resultField = 68;
/** Which event, from 0; -1 where none is meant. */
export const resultIndex = 72;
/** The violation's place in the body, in bytes. */
export const resultOffset = 76;
/** The property's key in the body without its quotes, `keyEnd` 0 where no property is meant. */
export const resultKeyStart = 80;
export const resultKeyEnd = 84;
export const resultVariant = 88;
/** Which well-known property, twice its number, plus 1 for camelCase; -1 where none is meant. */
export const resultWellKnown = 92;
export const resultEvents = 96;
/** Events that say `cookieless: true`. */
export const resultCookieless = 100;
export const resultFlags = 104;
export const resultIpCount = 108;
/** Cookieless events of the UTC day of receipt, and of the one before. */
export const resultCookielessToday = 112;
export const resultCookielessYesterday = 116;

export const flagBotSignal = 1;
/** More `$ip` members than the list holds. */
export const flagIpOverflow = 2;
/** An int64 came as a JSON number. */
export const flagNumericInt = 4;
/** A double came as a string. */
export const flagStringDouble = 8;
/** A cookieless event is close to the midnight between these days. */
export const flagCookielessAtMidnight = 16;

/** Limits, set by the wrapper once. */
export const limitEvents = 128;
export const limitKindCharacters = 132;
export const limitDistinctIdCodePoints = 136;
export const limitProperties = 140;
export const limitKeyCodePoints = 144;
export const limitStringCodePoints = 148;
export const limitMinTimeMs = 152;
export const limitTimeAheadMs = 160;
export const limitSessionInactivityMs = 168;

/** Where the names of each open object of a skipped tree begin in the stack of names: 101 addresses. */
export const treeNames = 256;
/** Ranges of `$ip` values: pairs of offsets. */
export const ipRanges = 1_024;
export const maxIpRanges = 2_048;
/** Table of names of one object: 1,024 slots of a generation and an address. */
export const nameTable = 20_480;
export const nameSlots = 1_024;
/** Well-known kinds: see well-known.ts of this folder. */
export const wellKnownTable = 28_672;
export const wellKnownEnd = 49_152;
/** The body begins here. */
export const bodyBase = 65_536;
/** Zero bytes after a body, so that no read of a vector needs a bound and no loop runs past the end. */
export const padding = 64;
