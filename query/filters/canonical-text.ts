// The canonical text of a property value: its protobuf JSON without quotes. Filters compare by it, so that "42" finds
// the string, the integer and the double. A filter's text becomes values here; a stored value becomes text in the
// engine.

import { foldCase } from '../../platform/filters/fold-case.ts';
import { maxInt64, minInt64 } from '../../platform/filters/numeric-range.ts';

/** The values of each type that have a given canonical text. The string is left out: every text has one. */
interface TextReadings {
  int?: bigint;
  /** 0 stands for -0 too: both print as "0". */
  double?: number;
  bool?: boolean;
  /** Milliseconds since the epoch. */
  timeMs?: bigint;
}

/** "042", "1.50" and "TRUE" have no readings: only strings print like that. */
export function readCanonicalText(text: string): TextReadings {
  const readings: TextReadings = {};
  if (/^(?:0|-?[1-9]\d{0,18})$/.test(text)) {
    const int = BigInt(text);
    if (int >= minInt64 && int <= maxInt64) readings.int = int;
  }
  const double = Number(text);
  if (Number.isFinite(double) && String(double) === text) readings.double = double;
  if (text === 'true' || text === 'false') readings.bool = text === 'true';
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(text)) {
    const timeMs = Date.parse(text);
    if (!Number.isNaN(timeMs) && timeText(timeMs) === text) readings.timeMs = BigInt(timeMs);
  }
  return readings;
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('.000Z', 'Z');
}

/** SQL for the canonical text of a Float64 expression: the engine prints 1e300 for JSON's 1e+300, and -0 for 0. */
export function doubleTextSql(double: string): string {
  return `if(${double} = 0, '0', replaceRegexpOne(toString(${double}), 'e([0-9])', 'e+\\\\1'))`;
}

/** SQL for the canonical text of a DateTime64(3, 'UTC') expression. */
export function timeTextSql(time: string): string {
  return `concat(replaceOne(replaceRegexpOne(toString(${time}), '[.]000$', ''), ' ', 'T'), 'Z')`;
}

/** The types whose canonical text can contain `part`, in upper or lower case: a filter need not read the others. */
export function typesThatCanHold(part: string): {
  int: boolean;
  double: boolean;
  bools: boolean[];
  time: boolean;
} {
  const lower = foldCase(part);
  return {
    int: /^[-0-9]+$/.test(part),
    double: /^[-+.e0-9]+$/.test(lower),
    bools: [true, false].filter((bool) => String(bool).includes(lower)),
    time: /^[-:.tz0-9]+$/.test(lower),
  };
}
