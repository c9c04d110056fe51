// What every form of an answer is drawn from.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type {
  InsightQuerySpec,
  QuestionPointSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { TimeStyle } from '../time/time.tsx';
import type { DrawingId } from './drawings/drawings.ts';

export type Shown<Result> = {
  /** The name of the chart and of its table's file. */
  label: string;
  /** What a series that stands alone is called; a text of the question where it is left out. */
  name?: string | undefined;
  spec: InsightQuerySpec;
  result: Result;
  /** The answer for the range before. */
  previous?: Result | undefined;
  granularity: Granularity;
  /** Of the buckets, from the answer. */
  labels: readonly string[];
  /** Of those of the range before. */
  labelsBefore?: readonly string[] | undefined;
  /** How it is drawn, of those that the question can have; as is usual where it is left out. */
  drawn?: DrawingId | undefined;
  /** In px. */
  height: number;
  /** Leaves out the table of a chart that has all its figures in words. */
  isTile: boolean;
  /** Opens the rows that a figure counts; undefined where nobody may see them. */
  onOpen?: ((rows: Rows) => void) | undefined;
  /** Opens the persons whom figures count, in place of their rows; undefined where none can be listed. */
  onPersons?: ((opened: Opened) => void) | undefined;
};

/** A number of the answer: its name, and which it is. */
export type Figure = {
  name: string;
  point: Omit<MessageInitShape<typeof QuestionPointSchema>, '$typeName' | 'spec' | 'asOf'>;
};

/** What was clicked: one figure, or all that stand at a place of a chart. */
export type Opened = { title: string; figures: readonly Figure[]; rows: Rows };

/** What a figure counts: events of a kind and a group, in one bucket where it is named. */
export type Rows = {
  kind: string;
  eventIndex?: number;
  breakdown?: { [key: string]: string };
  /** The first day of the bucket, 2026-11-01. */
  day?: string;
  /** Of a payment: that of its series, undefined where it names none. */
  payment?: { currency: string | undefined };
  profileId?: string;
};

/** The beginning of a bucket, as an answer's label names it. */
export function bucketOf(label: string) {
  return timestampFromDate(new Date(label));
}

export function timeStyle(granularity: Granularity): TimeStyle {
  return granularity === Granularity.MINUTE || granularity === Granularity.HOUR ? 'short' : 'day';
}
