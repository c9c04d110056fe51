// Segments as a filter: those that a person has to be in, and those that they must not be in. Both lists together have
// a bound, also where a request's come besides a question's or a dashboard's.

import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';

/** Ids, as messages have them. */
export interface SegmentFilter {
  segments: readonly string[];
  notInSegments: readonly string[];
}

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const maxSegments = 5;

/** Whether a text can be the id of a segment. */
export function isSegmentId(text: string): boolean {
  return idPattern.test(text);
}

/** Whether none is named. */
export function isEmpty({ segments, notInSegments }: SegmentFilter): boolean {
  return segments.length === 0 && notInSegments.length === 0;
}

/** What a caller calls the two lists. */
export type SegmentFields = Readonly<Record<keyof SegmentFilter, string>>;

/** `prefix`: such as `spec.`. */
export function fieldsBelow(prefix: string): SegmentFields {
  return { segments: `${prefix}segments`, notInSegments: `${prefix}notInSegments` };
}

/** Of a request. */
export const ownFields = fieldsBelow('');

/** Throws invalid_argument for too many, and for an id that none can have. */
export function checkSegments(
  { segments, notInSegments }: SegmentFilter,
  fields: SegmentFields = ownFields,
): void {
  if (segments.length > maxSegments) {
    throw invalidArgument(fields.segments, `takes at most ${maxSegments}`);
  }
  if (segments.length + notInSegments.length > maxSegments) {
    const rule = segments.length === 0 ? '' : ', with those of segments';
    throw invalidArgument(fields.notInSegments, `takes at most ${maxSegments}${rule}`);
  }
  checkIds(segments, fields.segments);
  checkIds(notInSegments, fields.notInSegments);
}

function checkIds(ids: readonly string[], field: string): void {
  const odd = ids.findIndex((id) => !isSegmentId(id));
  if (odd >= 0) throw invalidArgument(`${field}[${odd}]`, 'must be the id of a segment, a UUID');
}

/**
 * Both, each id once, those of `more` first: in its fields they have the same places. Throws invalid_argument that
 * names a field of `more` where they are too many together: `fields` are its own, and `whose` says whose the others
 * are, such as "the dashboard".
 */
export function withMore(
  own: SegmentFilter,
  more: SegmentFilter,
  { fields, whose }: { fields: SegmentFields; whose: string },
): { segments: string[]; notInSegments: string[] } {
  const segments = [...new Set([...more.segments, ...own.segments])];
  const notInSegments = [...new Set([...more.notInSegments, ...own.notInSegments])];
  if (segments.length + notInSegments.length > maxSegments && !isEmpty(more)) {
    const field = more.segments.length > 0 ? fields.segments : fields.notInSegments;
    throw invalidArgument(field, `takes at most ${maxSegments} with those of ${whose}`);
  }
  return { segments, notInSegments };
}
