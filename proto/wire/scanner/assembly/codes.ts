// The numbers that the scanner and its wrapper mean the same by. Plain constants, so that both compilers read this
// file.

/** Rules, by the names that ../scanner.ts gives them. */
export const ruleNone = 0;
export const ruleBodyJson = 1;
export const ruleBodyObject = 2;
export const ruleBodyUnicode = 3;
export const ruleBodyDepth = 4;
export const ruleMemberOnce = 5;
export const ruleMemberSpelling = 6;
export const ruleEventsArray = 7;
export const ruleEventsCount = 8;
export const ruleEventObject = 9;
export const ruleRequired = 10;
export const ruleMustBeString = 11;
export const ruleMustBeBoolean = 12;
export const ruleUuid = 13;
export const ruleTimestamp = 14;
export const ruleTimeEarly = 15;
export const ruleTimeAhead = 16;
export const ruleCookielessIdentity = 17;
export const ruleIdentityRequired = 18;
export const ruleDistinctIdLength = 19;
export const ruleDistinctIdPrefix = 20;
export const ruleKindPattern = 21;
export const ruleKindLength = 22;
export const ruleKindPrefix = 23;
export const rulePropertiesObject = 24;
export const rulePropertiesCount = 25;
export const rulePropertyKeyLength = 26;
export const ruleAutoKeyPrefix = 27;
export const ruleCustomKeyPrefix = 28;
export const rulePropertyValue = 29;
export const ruleStringLength = 30;
export const ruleInt64 = 31;
export const ruleInt64Number = 32;
export const ruleFiniteDouble = 33;
export const ruleWellKnownRequired = 34;
export const ruleWellKnownId = 35;
export const ruleWellKnownText = 36;
export const ruleWellKnownNonEmpty = 37;
export const ruleWellKnownAmount = 38;
export const ruleWellKnownCurrency = 39;
export const ruleWellKnownClickCount = 40;
export const ruleWellKnownPercent = 41;
export const ruleWellKnownScore = 42;
/** Memory could not grow: the body is neither right nor wrong. */
export const ruleNoMemory = 43;

/** Fields of a request or an event. */
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

/** Variants of a PropertyValue. */
export const variantNone = 0;
export const variantString = 1;
export const variantInt = 2;
export const variantDouble = 3;
export const variantBool = 4;
export const variantTimestamp = 5;

/** Checks of well-known properties. */
export const checkId = 0;
export const checkText = 1;
export const checkNonEmptyText = 2;
export const checkAmount = 3;
export const checkCurrency = 4;
export const checkClickCount = 5;
export const checkPercent = 6;
export const checkScore = 7;
