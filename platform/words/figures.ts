// Figures as people read them, on pages and in mails. One language, so that every reader and every test sees the same
// text.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const fine = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** In full: 12,345 or 0.25. */
export function figure(value: number | bigint): string {
  return typeof value === 'bigint' || Number.isInteger(value)
    ? whole.format(value)
    : fine.format(value);
}

/** For axes and tiles: 12.3K. In full below ten thousand. */
export function shortFigure(value: number): string {
  return Math.abs(value) < 10_000 ? figure(value) : compact.format(value);
}

/** `share` of 1: 0.253 is 25%, 0.0253 is 2.5%. */
export function percent(share: number): string {
  const digits = share !== 0 && Math.abs(share) < 0.0995 ? 1 : 0;
  return `${(share * 100).toFixed(digits)}%`;
}

/** What a change that rounds to nothing reads as: it has no sign, and is neither good nor bad news. */
const unchanged = '0.0';

/** The change from `before`, with its sign: +12%; undefined where nothing was before, 0.0% where it rounds to zero. */
export function change(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  // Of a sum below zero the change is up where the sum is more.
  const share = (now - before) / Math.abs(before);
  return isUnchanged(now, before) ? `${unchanged}%` : signed(share, percent(Math.abs(share)));
}

/** Whether the change from `before`, in percent, rounds to zero. */
export function isUnchanged(now: number, before: number): boolean {
  return now === before || Math.abs(((now - before) / before) * 100).toFixed(1) === unchanged;
}

/**
 * Whether a change is good news; undefined where it rounds to zero or nobody can tell. `isMoreBetter`: whether more is
 * good news; undefined where nobody can tell.
 */
export function isGoodNews(
  now: number,
  before: number,
  isMoreBetter: boolean | undefined,
): boolean | undefined {
  return isMoreBetter === undefined || isUnchanged(now, before)
    ? undefined
    : now > before === isMoreBetter;
}

/** The change between two shares of 1 in percentage points: +1.2 pp; 0.0 pp where it rounds to zero. */
export function changeInPoints(now: number, before: number): string {
  const points = (now - before) * 100;
  const size = Math.abs(points).toFixed(1);
  return `${size === unchanged ? size : signed(points, size)} pp`;
}

function signed(change: number, size: string): string {
  return `${change > 0 ? '+' : '−'}${size}`;
}

/** A time between two things: 0 s, 340 ms, 4.2 s, 3 min 20 s, 5 h 3 min, 2 d 4 h. */
export function milliseconds(ms: number): string {
  if (ms === 0) return '0 s';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** 1.5 MiB. */
export function bytes(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? ''}`;
}

/** "1 event", "2 events". */
export function plural(count: number | bigint, noun: string): string {
  return `${figure(count)} ${noun}${Number(count) === 1 ? '' : 's'}`;
}
