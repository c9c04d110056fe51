// The numbers of columns, dictionaries and regions that the module and its wrapper share. Constants only, so that both
// compilers read this file.

/** Auto properties with a column, which holds a cell of 32 bits for each row. */
export const textColumns = 23;
/** Auto properties that enrichment may replace: first all with a column, then some without. */
export const propertySlots = textColumns + 7;
/** Dictionaries: one for each text column, the kinds, and the keys of each map. */
export const kindDictionary = textColumns;
export const keyDictionaries = kindDictionary + 1;
/** Maps in the order of the variants of codes.ts, from 0. */
export const maps = 5;

/** Numbers of regions, for `regionOf`. */
export const regionEventIds = 0;
export const regionSessionIds = 1;
export const regionTimes = 2;
export const regionCookieless = 3;
export const regionKinds = 4;
export const regionPresent = 5;
export const regionDistinctEnds = 6;
export const regionDistinctBytes = 7;
/** `textColumns` regions from here on. */
export const regionTexts = 8;
/** `maps` regions from each on. */
export const regionMapEnds = regionTexts + textColumns;
export const regionMapKeys = regionMapEnds + maps;
export const regionMapValues = regionMapKeys + maps;
/** The texts of the string map; the map's values are the places where they end. */
export const regionStringBytes = regionMapValues + maps;
/** The interned texts: an entry of 16 bytes each (see intern.ts), their bytes, and the table that finds them. */
export const regionEntries = regionStringBytes + 1;
export const regionHeap = regionEntries + 1;
export const regionTable = regionHeap + 1;
/** The properties that are added to each event of a request: 24 bytes each. */
export const regionExtras = regionTable + 1;
/** The wrapper puts the text of a call here. */
export const regionScratch = regionExtras + 1;
/** Outcomes (see outcomes.ts), and the table that finds them. */
export const regionOutcomes = regionScratch + 1;
export const regionOutcomeTable = regionOutcomes + 1;
export const regions = regionOutcomeTable + 1;

export const maxExtras = 8;
/** The most text columns that an outcome may depend on. */
export const maxTextsRead = 6;
/** Some 50,000 outcomes of usual size. */
export const outcomeRoomBytes = 4_194_304;
export const scratchBytes = 65_536;
