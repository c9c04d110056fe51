// The addresses in the scanner's memory that the module and its wrapper share. Constants only, so that both compilers
// read this file.

/** The results of the last call, as 32-bit numbers at these addresses. */
export const resultRule = 64;
export const resultField = 68;
/** The event's place in the request, from 0; -1 where the result is about no single event. */
export const resultIndex = 72;
/** The violation's place in the body, in bytes. */
export const resultOffset = 76;
/** The property's key in the body, without its quotes; `resultKeyEnd` is 0 where the result is about no property. */
export const resultKeyStart = 80;
export const resultKeyEnd = 84;
export const resultVariant = 88;
/** Twice the number of a well-known property, plus 1 for camelCase; -1 where the result is about no such property. */
export const resultWellKnown = 92;
export const resultEvents = 96;
/** Events that say `cookieless: true`. */
export const resultCookieless = 100;
export const resultFlags = 104;
export const resultIpCount = 108;
/** Cookieless events of the UTC day of receipt, and of the day before. */
export const resultCookielessToday = 112;
export const resultCookielessYesterday = 116;
/** The kind of the event at fault, its escapes written out; both 0 where it has none that keeps the rules of a kind. */
export const resultKindStart = 120;
export const resultKindEnd = 124;

export const flagBotSignal = 1;
/** More `$ip` members than the list holds. */
export const flagIpOverflow = 2;
/** An int64 came as a JSON number. */
export const flagNumericInt = 4;
/** A double came as a string. */
export const flagStringDouble = 8;
/** A cookieless event is within `limitSessionInactivityMs` of the midnight between these days. */
export const flagCookielessAtMidnight = 16;

/** Limits, which the wrapper sets once. */
export const limitEvents = 128;
export const limitKindCharacters = 132;
export const limitDistinctIdCodePoints = 136;
export const limitProperties = 140;
export const limitKeyCodePoints = 144;
export const limitStringCodePoints = 148;
export const limitMinTimeMs = 152;
export const limitTimeAheadMs = 160;
export const limitSessionInactivityMs = 168;
export const limitMembers = 176;

/** More results. For a fault of the text: the event or the request's member that holds it, 0 where neither does … */
export const resultTextPart = 192;
/** … and that event's place in the request; -1 where the part is a member. */
export const resultTextIndex = 196;
/**
 * In an event: its member that holds the fault, the property, and the member of that; 0 where none does. Places of the
 * names' quotes.
 */
export const resultTextMember = 200;
export const resultTextProperty = 204;
export const resultTextVariant = 208;

/** For each open object of a skipped tree the place of its first name on the stack of names: 101 addresses. */
export const treeNames = 256;
/** Ranges of `$ip` values: pairs of addresses. */
export const ipRanges = 1_024;
export const maxIpRanges = 2_048;
/** The table of well-known kinds, see property/well-known-table.ts. */
export const wellKnownTable = 20_480;
export const wellKnownEnd = 49_152;
/** The table of one object's names: slots of a generation and an address. A small object uses the first slots alone. */
export const nameTable = 65_536;
export const nameSlots = 32_768;
/** The body begins here. */
export const bodyBase = 327_680;
/** Zero bytes after a body: reads of vectors need no bound, and no loop runs past the end. */
export const padding = 64;
