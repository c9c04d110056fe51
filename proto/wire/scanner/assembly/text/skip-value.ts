// Values that no rule looks at: skipped with a full check of their syntax, names that occur twice noted at every
// depth.

import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from './characters.ts';
import { ruleBodyDepth } from '../rule-codes.ts';
import { noteText } from '../faults.ts';
import { noteIp } from '../event/ip-ranges.ts';
import { treeNames } from '../layout.ts';
import { isIp } from '../event/names.ts';
import {
  checkNamesOnce,
  dropNames,
  lastLength,
  lastStart,
  namesTop,
  pushName,
} from './open-names.ts';
import { scanNumber } from './scan-number.ts';
import { scanString } from './scan-string.ts';

/** What protobuf parsers allow by default: objects and arrays open at once. */
const maxDepth: usize = 100;

let kinds: usize = 0;
/** The level whose `$ip` is being read, and where its value began; 0 where none is. */
let ipLevel: usize = 0;
let ipStart: usize = 0;

/** Tells where one byte for each level of a tree may be kept: as many as the body has bytes. */
export function resetTrees(base: usize): void {
  kinds = base;
}

/** The position after the value at `p`, inside `depth` open objects and arrays; 0 where it is no JSON value. */
export function skipValue(p: usize, depth: usize): usize {
  const byte = load<u8>(p);
  if (byte === openBrace || byte === openBracket) return skipTree(p, depth);
  return skipScalar(p);
}

function skipScalar(p: usize): usize {
  if (load<u8>(p) === quote) {
    const end = scanString(p + 1);
    return end === 0 ? 0 : end + 1;
  }
  switch (load<u32>(p)) {
    case 0x65757274: // true
    case 0x6c6c756e: // null
      return p + 4;
    case 0x736c6166: // fals
      return load<u8>(p + 4) === 0x65 ? p + 5 : 0;
    default:
      return scanNumber(p);
  }
}

/** Walks without recursion: the depth of a hostile body is bounded by nothing but its length. */
function skipTree(p: usize, depth: usize): usize {
  let level = depth;
  ipLevel = 0;
  while (true) {
    const opening = load<u8>(p);
    if (opening === openBrace || opening === openBracket) {
      level++;
      openLevel(level, opening, p);
      p = skipSpace(p + 1);
      if (load<u8>(p) !== (opening === openBrace ? closeBrace : closeBracket)) {
        p = skipToValue(p, level);
        if (p === 0) return 0;
        continue;
      }
    } else {
      p = skipScalar(p);
      if (p === 0) return 0;
      endValue(p, level);
      p = skipSpace(p);
    }
    // Levels close until a comma says that one goes on.
    while (load<u8>(p) !== comma) {
      const isObject = load<u8>(kinds + level) === openBrace;
      if (load<u8>(p) !== (isObject ? closeBrace : closeBracket)) return 0;
      if (!closeLevel(level, isObject)) return 0;
      level--;
      p++;
      if (level === depth) return p;
      endValue(p, level);
      p = skipSpace(p);
    }
    p = skipToValue(skipSpace(p + 1), level);
    if (p === 0) return 0;
  }
}

/** To the next value of the level: past a name and its colon in an object. */
function skipToValue(p: usize, level: usize): usize {
  if (load<u8>(kinds + level) === openBracket) return p;
  p = skipName(p, level);
  if (p !== 0 && ipLevel === 0 && isIpName(level)) {
    ipLevel = level;
    ipStart = p;
  }
  return p;
}

/** A value of the level ends before `p`: perhaps that of an `$ip`, whose own parts do not count again. */
function endValue(p: usize, level: usize): void {
  if (level !== ipLevel) return;
  noteIp(ipStart, p);
  ipLevel = 0;
}

function openLevel(level: usize, opening: u8, at: usize): void {
  store<u8>(kinds + level, opening);
  if (level > maxDepth) noteText(ruleBodyDepth, at);
  else store<u32>(<usize>treeNames + level * 4, <u32>namesTop());
}

function closeLevel(level: usize, isObject: bool): bool {
  if (!isObject || level > maxDepth) return true;
  const base = <usize>load<u32>(<usize>treeNames + level * 4);
  const done = checkNamesOnce(base);
  dropNames(base);
  return done;
}

/** From a name's opening quote to its value; 0 where there is no name or no colon. */
function skipName(p: usize, level: usize): usize {
  if (load<u8>(p) !== quote) return 0;
  if (level > maxDepth) {
    p = scanString(p + 1);
    if (p === 0) return 0;
    p++;
  } else {
    p = pushName(p + 1);
    if (p === 0) return 0;
  }
  p = skipSpace(p);
  return load<u8>(p) === colon ? skipSpace(p + 1) : 0;
}

/** Whether the name just read is `$ip`; beyond the depth that is refused anyway nobody asks. */
function isIpName(level: usize): bool {
  return level <= maxDepth && isIp(lastStart(), lastLength());
}
