// Writes each event that was just read and found valid into the columns, as one row: fields, properties, interned
// texts. Checks no room while it writes: `hasRoom` does that for a whole body.

import {
  fieldAutoProperties,
  fieldCustomProperties,
  fieldDistinctId,
  fieldEventId,
  fieldKind,
  fieldSessionId,
  variantBool,
  variantDouble,
  variantInt,
  variantString,
} from '../codes.ts';
import {
  keyDictionaries,
  kindDictionary,
  maps,
  regionCookieless,
  regionDistinctBytes,
  regionDistinctEnds,
  regionEventIds,
  regionExtras,
  regionKinds,
  regionMapEnds,
  regionMapKeys,
  regionMapValues,
  regionPresent,
  regionSessionIds,
  regionStringBytes,
  regionTexts,
  regionTimes,
  textColumns,
} from './column-layout.ts';
import { eventTimeMs } from '../event/event.ts';
import {
  entriesEnd,
  entriesStart,
  eventIsCookieless,
  fieldEnd,
  fieldStart,
} from '../event/event-slots.ts';
import { withEscapes } from '../property/held-value.ts';
import { intern, internedBytes, internName } from './intern.ts';
import { limitEvents } from '../layout.ts';
import { entryBytes } from '../text/open-names.ts';
import { slotOfProperty } from './property-slots.ts';
import {
  copyOver,
  mostProperties,
  regionOf,
  roomForBytes,
  roomForEntries,
  roomForRows,
} from './regions.ts';
import { doubleOf, int64Of } from '../text/scan-number.ts';
import { writeOut } from '../text/scan-string.ts';
import { scanTime } from '../text/scan-time.ts';
import { packUuid } from '../text/scan-uuid.ts';

/** A bit for each slot whose property is never taken from the sender. */
let dropped: u32 = 0;
let rows: usize = 0;
let distinctUsed: usize = 0;
let stringUsed: usize = 0;
let extras: usize = 0;
/** The number of entries of each map: now, and before the last body. */
const used: usize = memory.data(32, 16);
const usedBefore: usize = memory.data(32, 16);
let rowsBefore: usize = 0;
let distinctBefore: usize = 0;
let stringBefore: usize = 0;
let present: u32 = 0;

export function rowCount(): usize {
  return rows;
}

function mapEntryCount(map: i32): usize {
  return load<u32>(used + ((<usize>map) << 2));
}

/** For the bodies to come: a bit for each slot to drop, and how many properties of `regionExtras` each event gets. */
export function setPolicy(droppedBits: u32, extraCount: usize): void {
  dropped = droppedBits;
  extras = extraCount;
}

export function resetRows(): void {
  clearTexts(0);
  rows = 0;
  distinctUsed = 0;
  stringUsed = 0;
  memory.fill(used, 0, 32);
  store<u32>(regionOf(regionDistinctEnds), 0);
  store<u32>(regionOf(regionMapValues), 0);
  for (let map = 0; map < maps; map++) store<u32>(regionOf(regionMapEnds + map), 0);
}

/** Whether there is room for all that a body of `length` bytes can hold, with the added properties. */
export function hasRoom(length: usize): bool {
  const events = <usize>load<u32>(limitEvents);
  if (rows + events > roomForRows()) return false;
  if (distinctUsed + length > roomForBytes() || internedBytes() + length > roomForBytes())
    return false;
  // The string map gets at most the body's own texts: added properties are never strings.
  if (stringUsed + length > roomForBytes()) return false;
  const properties = mostProperties(length) + events * extras;
  for (let map = 0; map < maps; map++) {
    if (mapEntryCount(map) + properties > roomForEntries()) return false;
  }
  return true;
}

/** Remembers the rows so far, for `dropBody`. */
export function beginBody(): void {
  rowsBefore = rows;
  distinctBefore = distinctUsed;
  stringBefore = stringUsed;
  memory.copy(usedBefore, used, 32);
}

/** Takes back the rows since `beginBody`. */
export function dropBody(): void {
  clearTexts(rowsBefore);
  rows = rowsBefore;
  distinctUsed = distinctBefore;
  stringUsed = stringBefore;
  memory.copy(used, usedBefore, 32);
}

/** Empties the text columns from a row on: later rows write only the texts that they have. */
function clearTexts(from: usize): void {
  if (from >= rows) return;
  for (let column = 0; column < textColumns; column++) {
    memory.fill(regionOf(regionTexts + column) + (from << 2), 0, (rows - from) << 2);
  }
}

/**
 * Adds the event that was read last, unless the body, by several lists of events, has already added the most allowed.
 */
export function emitEvent(): void {
  if (rows - rowsBefore >= <usize>load<u32>(limitEvents)) return;
  const row = rows++;
  v128.store(regionOf(regionEventIds) + (row << 4), packUuid(fieldStart(fieldEventId)));
  const isCookieless = eventIsCookieless();
  const session = isCookieless ? i64x2.splat(0) : packUuid(fieldStart(fieldSessionId));
  v128.store(regionOf(regionSessionIds) + (row << 4), session);
  store<i64>(regionOf(regionTimes) + (row << 3), eventTimeMs());
  store<u8>(regionOf(regionCookieless) + row, isCookieless ? 1 : 0);
  const kind = fieldStart(fieldKind);
  const kindLength = fieldEnd(fieldKind) - kind;
  // Length, first and last byte tell kinds apart as well as a better hash does.
  const hint = <u32>(load<u8>(kind) + load<u8>(kind + kindLength - 1) * 5) + <u32>kindLength * 31;
  const kindEntry = internName(kindDictionary, kind, kindLength, hint);
  store<u32>(regionOf(regionKinds) + (row << 2), <u32>kindEntry);
  if (!isCookieless) emitDistinctId();
  store<u32>(regionOf(regionDistinctEnds) + (row << 2), <u32>distinctUsed, 4);
  present = 0;
  emitAuto(row);
  const end = entriesEnd(fieldCustomProperties);
  for (let entry = entriesStart(fieldCustomProperties); entry < end; entry += entryBytes) {
    emitEntry(entry);
  }
  emitExtras();
  store<u32>(regionOf(regionPresent) + (row << 2), present);
  for (let map = 0; map < maps; map++) {
    store<u32>(regionOf(regionMapEnds + map) + (row << 2), <u32>mapEntryCount(map), 4);
  }
}

function emitDistinctId(): void {
  const start = fieldStart(fieldDistinctId);
  const length = fieldEnd(fieldDistinctId) - start;
  copyOver(regionOf(regionDistinctBytes) + distinctUsed, start, length);
  distinctUsed += length;
}

/** A property with a column goes there if it is a text that is not empty; all other properties go into maps. */
function emitAuto(row: usize): void {
  const end = entriesEnd(fieldAutoProperties);
  for (let entry = entriesStart(fieldAutoProperties); entry < end; entry += entryBytes) {
    const slot = slotOfProperty(load<u32>(entry), load<u32>(entry, 4), load<u32>(entry, 8));
    if (slot >= 0) {
      const bit = (<u32>1) << (<u32>slot);
      if ((dropped & bit) !== 0) continue;
      present |= bit;
      if (slot < textColumns && (load<i32>(entry, 20) & ~withEscapes) === variantString) {
        const start = <usize>load<u32>(entry, 12);
        const length = endOfText(entry) - start;
        if (length !== 0) {
          const cell = <u32>intern(slot, start, length);
          store<u32>(regionOf(regionTexts + slot) + (row << 2), cell);
          continue;
        }
      }
    }
    emitEntry(entry);
  }
}

/** Writes the escapes of an entry's text out, if there are any, and returns the text's end. */
function endOfText(entry: usize): usize {
  const end = <usize>load<u32>(entry, 16);
  if ((load<u32>(entry, 20) & withEscapes) === 0) return end;
  const written = writeOut(load<u32>(entry, 12), end);
  store<u32>(entry, <u32>written, 16);
  store<u32>(entry, variantString, 20);
  return written;
}

function emitEntry(entry: usize): void {
  const variant = load<i32>(entry, 20) & ~withEscapes;
  const map = variant - 1;
  const name = load<u32>(entry);
  const key = internName(keyDictionaries + map, name, load<u32>(entry, 4), load<u32>(entry, 8));
  const at = addEntry(map, <u32>key);
  const start = <usize>load<u32>(entry, 12);
  if (variant === variantString) {
    addString(at, start, endOfText(entry) - start);
    return;
  }
  const end = <usize>load<u32>(entry, 16);
  const value = regionOf(regionMapValues + map);
  switch (variant) {
    case variantInt:
      store<i64>(value + (at << 3), wholeOf(start, end));
      break;
    case variantDouble:
      store<f64>(value + (at << 3), doubleOf(start, end));
      break;
    case variantBool:
      store<u8>(value + at, load<u8>(start) === 0x74 ? 1 : 0);
      break;
    default:
      store<i64>(value + (at << 3), scanTime(start, end));
  }
}

/** Digits alone are exact at any length. A fraction or an exponent came as a JSON number, which is a safe integer. */
function wholeOf(start: usize, end: usize): i64 {
  for (let p = start; p < end; p++) {
    const byte = load<u8>(p) | 0x20;
    if (byte === 0x2e || byte === 0x65) return <i64>doubleOf(start, end);
  }
  return int64Of(start, end);
}

/** Adds an entry with this key to a map and returns its index. */
function addEntry(map: i32, key: u32): usize {
  const index = mapEntryCount(map);
  store<u32>(regionOf(regionMapKeys + map) + (index << 2), key);
  store<u32>(used + ((<usize>map) << 2), <u32>index + 1);
  return index;
}

function addString(at: usize, start: usize, length: usize): void {
  copyOver(regionOf(regionStringBytes) + stringUsed, start, length);
  stringUsed += length;
  store<u32>(regionOf(regionMapValues) + (at << 2), <u32>stringUsed, 4);
}

/** Adds the server's properties: slot u32, onlyIfAbsent u32, map u32, key u32, value in 64 bits. Never strings. */
function emitExtras(): void {
  const end = regionOf(regionExtras) + extras * 24;
  for (let extra = regionOf(regionExtras); extra < end; extra += 24) {
    const bit = (<u32>1) << load<u32>(extra);
    if (load<u32>(extra, 4) !== 0 && (present & bit) !== 0) continue;
    present |= bit;
    const map = load<i32>(extra, 8);
    const at = addEntry(map, load<u32>(extra, 12));
    const value = regionOf(regionMapValues + map);
    if (map === variantBool - 1) store<u8>(value + at, load<u8>(extra, 16));
    else store<u64>(value + (at << 3), load<u64>(extra, 16));
  }
}
