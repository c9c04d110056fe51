// A question about every event of a range, for lists that are not questions and read events or persons as these do.

import { create } from '@bufbuild/protobuf';
import { monday } from '../../../platform/zones/weeks.ts';
import {
  Granularity,
  InsightQuerySpecSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Bindings } from '../../filters/bindings.ts';
import { every } from './event-condition.ts';
import { createNotes, type Range } from './plan-notes.ts';
import { type Question, unplanned } from './question.ts';

export interface PlainRead {
  projectId: string;
  /** The placeholder of the project's id. */
  project: string;
  bindings: Bindings;
  range: Range;
}

/** It has no groups, and one bucket. */
export function plainQuestion({ projectId, project, bindings, range }: PlainRead): Question {
  return {
    ...{ projectId, project, bindings, ...range, asked: range, asOfMs: undefined },
    spec: create(InsightQuerySpecSchema),
    ...{ timezone: 'UTC', weekStart: monday },
    ...{ granularity: Granularity.DAY, buckets: [range.fromMs] },
    ...{ breakdowns: [], breakdownKeys: [], standIns: undefined, groupLimit: 0 },
    ...{ everyEvent: every, filterGroups: every, notes: createNotes(), ...unplanned },
  };
}
