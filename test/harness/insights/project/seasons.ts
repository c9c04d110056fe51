// The stretches of time in which a generated project has events: days on which clocks change, and the last day.

import { dayMs } from '../../../../platform/clock.ts';

export interface Season {
  name: string;
  fromMs: number;
  toMs: number;
  /** When the clocks change: many events lie around it. */
  changeMs: number;
  /** Zones whose clocks change in it, and others. */
  zones: readonly string[];
}

const morocco = 'Africa/Casablanca';
const halfHours = ['Asia/Kolkata', 'Asia/Kathmandu', 'UTC'];

/** Two days before and after a change of clocks. */
function season(name: string, change: string, ...zones: string[]): Season {
  const changeMs = Date.parse(change);
  const midnightMs = Math.floor(changeMs / dayMs) * dayMs;
  const [fromMs, toMs] = [midnightMs - 2 * dayMs, midnightMs + 2 * dayMs];
  return { name, fromMs, toMs, changeMs, zones: [...zones, ...halfHours] };
}

const changes: readonly Season[] = [
  season('autumn', '2025-10-26T01:00Z', 'Europe/Berlin', 'Europe/London'),
  season('spring', '2025-03-09T07:00Z', 'America/New_York', 'America/St_Johns'),
  season('half an hour back', '2025-04-05T15:00Z', 'Australia/Lord_Howe', morocco),
  season('half an hour on', '2025-10-04T15:30Z', 'Australia/Lord_Howe'),
  season('Ramadan', '2025-02-23T02:00Z', morocco),
  season('no midnight', '2018-11-04T03:00Z', 'America/Sao_Paulo'),
  season('long day', '2018-02-18T02:00Z', 'America/Sao_Paulo'),
];

/** Each zone but Morocco's, whose clocks from 2026 on depend on the year of a library's rules. */
export const allZones = [...new Set(changes.flatMap(({ zones }) => zones))].filter(
  (zone) => zone !== morocco,
);

/** The last moment at which all libraries know the clocks of a zone. */
export function lastSureMs(zone: string, endMs: number): number {
  return zone === morocco ? Math.min(endMs, Date.UTC(2026, 0, 1)) : endMs;
}

/** Hours before `nowMs` in which cookieless events may lie: their day is today or yesterday for a while. */
const recentMs = 20 * 3_600_000;

export function seasonsUntil(nowMs: number): { recent: Season; all: readonly Season[] } {
  const fromMs = nowMs - recentMs;
  const changeMs = nowMs - recentMs / 2;
  const recent = { name: 'recent', fromMs, toMs: nowMs, changeMs, zones: allZones };
  return { recent, all: [...changes, recent] };
}
