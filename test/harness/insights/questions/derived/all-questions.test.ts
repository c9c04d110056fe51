// Whatever the date and the seed, enough of the drawn questions have each feature that the oracle holds against events.

import { afterEach, expect, it, vi } from 'vitest';
import { seasonsUntil } from '../../project/seasons.ts';
import {
  SegmentSource,
  segmentFeatures,
  wantedOfSegments,
} from '../../segments/generated-segments.ts';
import { featuresOf } from '../coverage.ts';
import { QuestionSource } from '../generated-questions.ts';
import { allQuestions, wanted } from './all-questions.ts';
import { countsOf, lacking, toppedUp } from './topped-up.ts';

const minuteMs = 60_000;
/** Hours of a day, changes of clocks, and ends of months. */
const dates = [
  ...['2026-11-30T02:20:00Z', '2026-12-01T08:00:00Z', '2026-12-02T13:40:00Z'],
  ...['2026-12-31T23:55:00Z', '2027-03-14T07:10:00Z', '2027-10-31T01:00:00Z'],
];
const drawn = dates.map((date, at) => ({ date, seed: at % 2 === 0 ? 1 : 20 + at }));

afterEach(() => {
  vi.useRealTimers();
});

/** What the generators see of a project whose last season ends at the date. */
function projectAt(date: string) {
  const nowMs = Date.parse(date);
  vi.useFakeTimers({ now: nowMs + minuteMs, toFake: ['Date'] });
  const cutsMs = [1, 2, 3, 4].map((part) => nowMs + (part * minuteMs) / 4);
  return { seasons: seasonsUntil(nowMs).all, cutsMs };
}

it.each(drawn)('each feature is asked for often enough at $date, seed $seed', ({ date, seed }) => {
  const questions = allQuestions(seed, projectAt(date), 670);
  expect(lacking(countsOf(questions, featuresOf), wanted)).toEqual([]);
});

it.each(drawn)('so is each of segments at $date, seed $seed', ({ date, seed }) => {
  const project = projectAt(date);
  const source = new QuestionSource(seed, project);
  const questions = new SegmentSource(seed, project, source, ['one', 'other']).questions(150);
  expect(lacking(countsOf(questions, segmentFeatures), wantedOfSegments)).toEqual([]);
});

it('further questions are drawn only for what is rare, and only so often', () => {
  const named = new Map([['TRENDS', 2]]);
  const more = vi.fn(() => [{ type: 'TOP_K', fromMs: 0, toMs: 1 } as const]);
  const options = { featuresOf: ({ type }: { type: string }) => [type], more, rounds: 5 };
  const trend = { type: 'TRENDS', fromMs: 0, toMs: 1 } as const;
  expect(toppedUp([trend, trend], named, options)).toEqual([trend, trend]);
  expect(more).not.toHaveBeenCalled();
  expect(toppedUp([trend], named, options)).toEqual([trend]);
  expect(more).toHaveBeenCalledTimes(5);
});
