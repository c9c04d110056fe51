// Numbers that the scanner and its wrapper share, except the rules' codes, which rule-codes.ts has. Constants only, so
// that both compilers read this file.

/** The fields of a request and of an event. */
export const fieldBody = 0;
export const fieldEvents = 1;
export const fieldEvent = 2;
export const fieldEventId = 3;
export const fieldKind = 4;
export const fieldDistinctId = 5;
export const fieldSessionId = 6;
export const fieldOccurTime = 7;
export const fieldAutoProperties = 8;
export const fieldCustomProperties = 9;
export const fieldCookieless = 10;

/** The variants of a PropertyValue. */
export const variantNone = 0;
export const variantString = 1;
export const variantInt = 2;
export const variantDouble = 3;
export const variantBool = 4;
export const variantTimestamp = 5;

/** The checks of well-known properties. */
export const checkId = 0;
export const checkText = 1;
export const checkNonEmptyText = 2;
export const checkAmount = 3;
export const checkCurrency = 4;
export const checkClickCount = 5;
export const checkPercent = 6;
export const checkScore = 7;
