// The segments of a kept export as its plan has them: who is in them is asked for each file by the same conditions,
// whatever becomes of the segments meanwhile.

import { create, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { fieldOf } from '../../platform/json.ts';
import {
  type Condition,
  ConditionSchema,
  SegmentSchema,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { isEmpty, type SegmentFilter } from '../filters/segment-filter.ts';
import type { ListedSegments } from '../insights/segments/listed-persons.ts';

export interface PlannedSegments {
  /** Protobuf JSON of dashboard.segments.v1.Condition, by id. */
  conditions: Readonly<Record<string, JsonValue>>;
  timezone: string;
  /** What "in the last days" counts from. */
  nowMs: number;
}

/** Undefined where none is named. */
export function plannedSegments(listed: ListedSegments | undefined): PlannedSegments | undefined {
  if (listed === undefined || isEmpty(listed.filter)) return undefined;
  const { segments, timezone, nowMs } = listed;
  const conditions = Object.fromEntries(
    [...segments].flatMap(([id, { condition }]) =>
      condition === undefined ? [] : [[id, toJson(ConditionSchema, condition)]],
    ),
  );
  return { conditions, timezone, nowMs };
}

/** Undefined where it is none of ours. */
export function readPlannedSegments(value: unknown): PlannedSegments | undefined {
  const [timezone, nowMs] = [fieldOf(value, 'timezone'), fieldOf(value, 'nowMs')];
  const found = fieldOf(value, 'conditions');
  if (typeof timezone !== 'string' || typeof nowMs !== 'number') return undefined;
  if (typeof found !== 'object' || found === null) return undefined;
  return { conditions: Object.fromEntries(Object.entries(found)), timezone, nowMs };
}

/** What a statement reads. Throws for a condition that this version does not know. */
export function listedOf(
  { conditions, timezone, nowMs }: PlannedSegments,
  filter: SegmentFilter,
): ListedSegments {
  const conditionOf = (json: JsonValue): Condition => fromJson(ConditionSchema, json);
  const segments = new Map(
    Object.entries(conditions).map(([id, json]) => [
      id,
      create(SegmentSchema, { id, condition: conditionOf(json) }),
    ]),
  );
  return { segments, filter, timezone, nowMs };
}
