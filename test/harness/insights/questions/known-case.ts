// A question with the answer that a reader finds by hand, and the parts of which such answers are written.

import type { Question } from './question.ts';

export interface Case {
  name: string;
  question: Question;
  result: unknown;
  leftOut?: Record<string, number>;
}

export const at = (text: string): number => Date.parse(text);
export const range = (from: string, to: string) => ({ fromMs: at(from), toMs: at(to) });
export const all = { breakdown: {}, isOthers: false };
export const every = { eventKind: '', eventIndex: 0 };
export function trend(points: [string, number][]): unknown {
  const read = points.map(([time, value]) => [at(time), value]);
  return { trends: { series: [{ ...every, ...all, points: read }] } };
}
