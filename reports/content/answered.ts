// An answer of a question with everything that a part of a mail is made of.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { change, isGoodNews } from '../../platform/words/figures.ts';
import { isMoreBetterOf } from '../../platform/words/insight-words.ts';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { type SeriesOf, type WriteFigure, writerOf } from './question-names.ts';
import type { Cell } from './report-part.ts';

export interface Answered<R> {
  title: string;
  spec: InsightQuerySpec;
  result: R;
  /** For the period before, where it has one of the same form. */
  before: R | undefined;
  /** The zone's date and time at which each bucket begins. */
  labels: readonly string[];
}

/** More of it is good news. */
export function cellOf(write: WriteFigure, value: number | undefined, before?: number): Cell {
  return changedCell(write, value, before, true);
}

/** A value of the question, with its change. */
export function valueCell(
  spec: InsightQuerySpec,
  value: number | undefined,
  before: number | undefined,
): Cell {
  return changedCell(writerOf(spec), value, before, isMoreBetterOf(spec));
}

function changedCell(
  write: WriteFigure,
  value: number | undefined,
  before: number | undefined,
  isMoreBetter: boolean | undefined,
): Cell {
  if (value === undefined) return { text: '–' };
  const text = before === undefined ? undefined : change(value, before);
  if (text === undefined || before === undefined) return { text: write(value) };
  return { text: write(value), change: { text, isGood: isGoodNews(value, before, isMoreBetter) } };
}

/** Whether two series of two periods are the same one. */
export function isSame(one: SeriesOf, other: SeriesOf): boolean {
  if (one.eventIndex !== other.eventIndex || one.formulaIndex !== other.formulaIndex) return false;
  if (one.isOthers !== other.isOthers || one.currency !== other.currency) return false;
  const names = Object.keys(one.breakdown);
  return (
    names.length === Object.keys(other.breakdown).length &&
    names.every((name) => one.breakdown[name] === other.breakdown[name])
  );
}

/** What is said of figures that may still grow. */
export function incompleteNotes(from: Timestamp | undefined): string[] {
  return from === undefined ? [] : ['The last figures are not complete: they may still change.'];
}
