// What an import says of itself: the line of its progress, and the lines at its end.

import { count } from '../demo/progress.ts';
import type { HistoryFamily } from './families/history-family.ts';
import type { LeftOut, Tally } from './tally.ts';

interface Read {
  bytes: number;
  /** 0 where nobody knows. */
  totalBytes: number;
  elapsedMs: number;
}

/** `120,000 events, 45,000 a second, 3 min left` */
export function progressText(
  { events, stored }: Tally,
  { bytes, totalBytes, elapsedMs }: Read,
): string {
  const rate = count((1_000 * events) / Math.max(1, elapsedMs));
  const known = stored > 0 ? `, ${count(stored)} were stored` : '';
  const isKnown = totalBytes > 0 && bytes > 0;
  const left = isKnown ? `, ${timeText((elapsedMs * (totalBytes - bytes)) / bytes)} left` : '';
  return `${count(events)} events, ${rate} a second${known}${left}`;
}

function timeText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  return seconds < 120 ? `${seconds} s` : `${count(seconds / 60)} min`;
}

export function summaryLines(tally: Tally, isDry: boolean, family: HistoryFamily): string[] {
  const { count: people, isAtLeast } = tally.people;
  const most = isAtLeast ? 'at least ' : '';
  const read = `${count(tally.rows)} rows read, ${count(tally.events)} events of ${most}${count(people)} people`;
  const sent = `${count(tally.sent)} sent, ${count(tally.stored)} were stored before, ${count(tally.calls)} calls of identity`;
  return [
    ...[read, isDry ? 'nothing was sent: this is what would be' : sent],
    ...(isDry ? monthLines(tally) : []),
    ...(family.notes?.() ?? []),
    ...[...tally.leftOut.values()].flatMap(leftOutLines),
    ...tally.brokenOff.map((name) => `${name} may not be whole: its last row is damaged`),
    ...(isDry
      ? []
      : ['The same file again, or another one with the same events, stores nothing twice.']),
  ];
}

const shownKinds = 30;

function monthLines({ months }: Tally): string[] {
  const sorted = [...months].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.flatMap(([month, kinds]) => {
    const most = [...kinds].sort(([, one], [, other]) => other - one);
    const shown = most.slice(0, shownKinds);
    const rest = most.slice(shownKinds).reduce((sum, [, events]) => sum + events, 0);
    const lines = shown.map(([kind, events]) => `  ${month}  ${kind}  ${count(events)}`);
    return rest === 0 ? lines : [...lines, `  ${month}  other kinds  ${count(rest)}`];
  });
}

function leftOutLines({ why, isKept, count: some, first }: LeftOut): string[] {
  const what = isKept ? 'stored under another kind' : 'left out';
  return [`${count(some)} ${what}: ${why}`, ...first.map((place) => `  ${place}`)];
}

/** The remedy of most rows. */
export function nothingTaken({ rows, leftOut }: Tally): string {
  const [most] = [...leftOut.values()].sort((one, other) => other.count - one.count);
  if (rows === 0) return 'no event was taken: the files have no rows';
  if (most === undefined) return 'no event was taken: no row holds one';
  return `no event was taken: ${count(most.count)} of ${count(rows)} are left out: ${most.why}`;
}
