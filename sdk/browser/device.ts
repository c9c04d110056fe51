// What is kept on the visitor's device, and for how long a visit lasts. The callers decide whether anything may be kept
// at all: nothing is written here without their word.

import { uuid } from './value.ts';

/** Names of one letter: they are stored for every visitor. */
interface Visitor {
  /** The anonymous id. */
  a: string;
  /** The id that identify gave. */
  u?: string;
  /** The visit's id, when it began, and when it was last seen. */
  s: string;
  b: number;
  t: number;
}

/** Without an event for so long a visit has ended. */
export const idleMs = 30 * 60_000;
const longestVisitMs = 24 * 3_600_000;

/** Set at the start: the project's key, which keeps sites apart that send to several, and where events go. */
export const target = { key: '', url: '' };

const placeOf = (name: string): string => `millrace.${target.key}.${name}`;

/** Undefined where there is none, or where the browser lets a page store nothing. */
export function read(name: string): unknown {
  try {
    return JSON.parse(localStorage[placeOf(name)]);
  } catch {
    return undefined;
  }
}

/** What is false or absent removes it. */
export function write(name: string, value: unknown): void {
  try {
    if (value) localStorage[placeOf(name)] = JSON.stringify(value);
    else delete localStorage[placeOf(name)];
  } catch {
    // Storage is switched off or full.
  }
}

/**
 * The visitor in their present visit, which every call prolongs; undefined where nothing can be stored. `userId` names
 * them from now on.
 */
export function visitor(userId?: string): Visitor | undefined {
  const nowMs = Date.now();
  const known = (read('v') ?? { a: `anon-${uuid()}`, b: 0, t: 0 }) as Visitor;
  if (!(nowMs - known.t < idleMs && nowMs - known.b < longestVisitMs)) {
    known.s = uuid();
    known.b = nowMs;
  }
  known.t = nowMs;
  if (userId) known.u = userId;
  write('v', known);
  return read('v') as Visitor | undefined;
}

/** After a sign-out: what follows is somebody else's. */
export function reset(): void {
  write('v', 0);
}
