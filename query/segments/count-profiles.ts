// SegmentsService.Count: how many profiles meet a condition, saved or not, and how many there are.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import { checkCondition } from '../../platform/segments/condition-rules.ts';
import {
  type CountRequest,
  type CountResponse,
  CountResponseSchema,
  SegmentSchema,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { readTimeRange } from '../activity/activity-selection.ts';
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { profileKeySql } from '../identity/identity-sql.ts';
import { profilesListedSql, type SegmentOptions } from '../insights/segments/listed-persons.ts';
import { everybodySql } from '../profiles/profile-page-sql.ts';
import { readRows } from '../read-rows.ts';
import { findSegments, type Segments } from './named-segments.ts';

interface CountOptions extends SegmentOptions {
  clickhouse: RowReader;
}

/** Throws invalid_argument for a request that breaks a rule, resource_exhausted, and the client's errors. */
export async function countProfiles(
  options: CountOptions,
  projectId: string,
  request: CountRequest,
  deadline: Deadline,
): Promise<CountResponse> {
  const { clickhouse, timezoneOf, clock } = options;
  const range = rangeField(request);
  const segments = await segmentsField(options, projectId, request);
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const filter = { segments: [...segments.keys()], notInSegments: [] };
  const listed = { segments, filter, timezone: timezoneOf(projectId), nowMs: clock.nowMs() };
  const asked = { projectId, project, bindings, range };
  const isIn = profilesListedSql(asked, listed, profileKeySql('id'));
  const sql = `SELECT toString(countIf(${isIn})), toString(count())
    FROM ${everybodySql(project, 'profile_listing')} WHERE visible`;
  const bounds = { deadline, maxRows: 1, maxCharacters: 1_000 };
  const read = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
  if (read.kind === 'too-large') {
    throw new ConnectError('the profiles are too many to count', Code.ResourceExhausted);
  }
  const [[profiles = 0, allProfiles = 0] = []] = read.rows;
  return create(CountResponseSchema, {
    profiles: BigInt(String(profiles)),
    allProfiles: BigInt(String(allProfiles)),
  });
}

function rangeField({ timeRange }: CountRequest): { fromMs: number; toMs: number } {
  if ((timeRange?.from === undefined) === (timeRange?.to === undefined)) {
    return readTimeRange(timeRange);
  }
  throw invalidArgument('timeRange', 'must have both ends, or none');
}

/** An unsaved condition has the bounds of one that is saved. */
async function segmentsField(
  { findSegment }: SegmentOptions,
  projectId: string,
  { whom }: CountRequest,
): Promise<Segments> {
  switch (whom.case) {
    case 'id':
      return findSegments(findSegment, projectId, [{ id: whom.value, field: 'id' }]);
    case 'condition': {
      checkCondition(whom.value, 'condition');
      const unsaved = create(SegmentSchema, { condition: whom.value });
      return findSegments(async () => unsaved, projectId, [{ id: '', field: 'condition' }]);
    }
    case undefined:
      throw invalidArgument('whom', 'must be an id or a condition');
    default:
      return whom satisfies never;
  }
}
