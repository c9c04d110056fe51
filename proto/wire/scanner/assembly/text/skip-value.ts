// Skips values that no rule checks. Checks their syntax in full, and at every depth that no name is given twice.

import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  isDigit,
  minus,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from './characters.ts';
import { ruleBodyDepth } from '../rule-codes.ts';
import { noteText, stopAt } from '../faults.ts';
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

/** The most objects and arrays open at once: the default of protobuf parsers. */
const maxDepth: usize = 100;

let kinds: usize = 0;
/** The level whose `$ip` is being read, or 0, and the start of its value. */
let ipLevel: usize = 0;
let ipStart: usize = 0;

/** Sets the address of one byte for each level of a tree: as many bytes as the body has. */
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
      return load<u8>(p + 4) === 0x65 ? p + 5 : stopAt(p + 4);
    default:
      return isDigit(load<u8>(p)) || load<u8>(p) === minus ? scanNumber(p) : stopInWord(p);
  }
}

/** The text is neither a number nor one of the words, but may begin as one. */
function stopInWord(p: usize): usize {
  let word: u32 = 0;
  if (load<u8>(p) === 0x74) word = 0x65757274;
  else if (load<u8>(p) === 0x66) word = 0x736c6166;
  else if (load<u8>(p) === 0x6e) word = 0x6c6c756e;
  while (word !== 0 && <u32>load<u8>(p) === (word & 0xff)) {
    word >>= 8;
    p++;
  }
  return stopAt(p);
}

/** Walks without recursion: only its length bounds the depth of a hostile body. */
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
    // Closes levels until a comma continues one.
    while (load<u8>(p) !== comma) {
      const isObject = load<u8>(kinds + level) === openBrace;
      if (load<u8>(p) !== (isObject ? closeBrace : closeBracket)) return stopAt(p);
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

/** The position of the level's next value: in an object, after a name and its colon. */
function skipToValue(p: usize, level: usize): usize {
  if (load<u8>(kinds + level) === openBracket) return p;
  p = skipName(p, level);
  if (p !== 0 && ipLevel === 0 && isIpName(level)) {
    ipLevel = level;
    ipStart = p;
  }
  return p;
}

/** Notes the `$ip` whose value ends before `p`, if it is one. `$ip` inside such a value does not count again. */
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

/** The position of the value after the name whose quote opens at `p`; 0 where there is no name or no colon. */
function skipName(p: usize, level: usize): usize {
  if (load<u8>(p) !== quote) return stopAt(p);
  if (level > maxDepth) {
    p = scanString(p + 1);
    if (p === 0) return 0;
    p++;
  } else {
    p = pushName(p + 1);
    if (p === 0) return 0;
  }
  p = skipSpace(p);
  return load<u8>(p) === colon ? skipSpace(p + 1) : stopAt(p);
}

/** Whether the name just read is `$ip`. Never beyond the deepest level: such a body is refused anyway. */
function isIpName(level: usize): bool {
  return level <= maxDepth && isIp(lastStart(), lastLength());
}
