// An answer of a question with everything that a part of a mail is made of.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  type InsightQuerySpec,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { changeOf, type WriteFigure } from './figures.ts';
import { type SeriesOf, writerOf } from './question-names.ts';
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

export function cellOf(write: WriteFigure, value: number | undefined, before?: number): Cell {
  if (value === undefined) return { text: '–' };
  return { text: write(value), change: changeOf(value, before) };
}

/** A value of the question, with its change. */
export function valueCell(
  spec: InsightQuerySpec,
  value: number | undefined,
  before: number | undefined,
): Cell {
  return withTone(spec, cellOf(writerOf(spec), value, before));
}

/** A change of the bounce rate has no colour: less is better, and green would say more. */
function withTone({ session }: InsightQuerySpec, cell: Cell): Cell {
  const { change } = cell;
  if (session?.metric !== SessionMetric.BOUNCE_RATE || change === undefined) return cell;
  return { ...cell, change: { ...change, direction: 'same' } };
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
