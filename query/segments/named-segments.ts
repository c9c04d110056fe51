// Finds the segments that a question or a list names, when it is asked: what it answers follows the segment as it is
// then. Their SQL is insights/segments/'s.

import { toJsonString } from '@bufbuild/protobuf';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import {
  type Condition,
  ConditionSchema,
  type Segment,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  fieldsBelow,
  ownFields,
  type SegmentFields,
  type SegmentFilter,
} from '../filters/segment-filter.ts';
import { groupPropertiesOf } from '../insights/read/event-filters.ts';
import { segmentOf } from '../insights/read/question.ts';

/** Undefined where the project has no segment of that id. */
export type FindSegment = (projectId: string, id: string) => Promise<Segment | undefined>;

/** By id, in the order in which they are named. */
export type Segments = ReadonlyMap<string, Segment>;

/** An id, and the field that has it. */
export interface NamedId {
  id: string;
  field: string;
}

/** Those of a question, with the filters' texts, are in the parameters of one statement. */
const maxBytes = 20_480;

/** The ids of a filter. */
export function idsIn(
  { segments, notInSegments }: SegmentFilter,
  fields: SegmentFields = ownFields,
): NamedId[] {
  const named = (ids: readonly string[], field: string): NamedId[] =>
    ids.map((id, index) => ({ id, field: `${field}[${index}]` }));
  return [...named(segments, fields.segments), ...named(notInSegments, fields.notInSegments)];
}

/** Of a checked question. */
export function idsOf(spec: InsightQuerySpec): NamedId[] {
  const grouped = groupPropertiesOf(spec).flatMap(({ property, path }) => {
    const id = segmentOf(property);
    return id === undefined ? [] : [{ id, field: path }];
  });
  return [...idsIn(spec, fieldsBelow('spec.')), ...grouped];
}

/** Throws invalid_argument for one that is not there, and for conditions that are too long together. */
export async function findSegments(
  find: FindSegment,
  projectId: string,
  named: readonly NamedId[],
): Promise<Segments> {
  const segments = new Map<string, Segment>();
  let bytes = 0;
  for (const { id, field } of named) {
    if (segments.has(id)) continue;
    const segment = await find(projectId, id);
    if (segment?.condition === undefined) {
      throw invalidArgument(field, `the project has no segment ${id}: it may have been deleted`);
    }
    bytes += Buffer.byteLength(toJsonString(ConditionSchema, segment.condition));
    if (bytes > maxBytes) {
      throw invalidArgument(field, `segments take at most ${maxBytes} bytes of JSON together`);
    }
    segments.set(id, segment);
  }
  return segments;
}

/** For Question.conditionOf. */
export function conditionIn(segments: Segments): (id: string) => Condition {
  return (id) => {
    const condition = segments.get(id)?.condition;
    if (condition === undefined) throw new Error('a segment of the question was not looked up');
    return condition;
  };
}
