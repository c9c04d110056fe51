// An answer of a question with everything that a part of a mail is made of.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { changeOf, type WriteFigure } from './figures.ts';
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

/** What is said of figures that may still grow. */
export function incompleteNotes(from: Timestamp | undefined): string[] {
  return from === undefined ? [] : ['The last figures are not complete: they may still change.'];
}
