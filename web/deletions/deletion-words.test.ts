import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { ProjectDeletionSchema } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import {
  ComplianceRequestStatus,
  GetDeletionRequestResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { stateOf, wordsOf } from './deletion-words.ts';

const first = timestampFromMs(1_000);
const again = timestampFromMs(2_000);

it('says of an erasure that it is done once more for late rows', () => {
  const { PENDING, PROCESSING } = ComplianceRequestStatus;
  const saysOf = (status: ComplianceRequestStatus, firstCompletedAt?: typeof first) =>
    wordsOf(create(GetDeletionRequestResponseSchema, { status, firstCompletedAt })).says;
  for (const status of [PENDING, PROCESSING]) {
    expect(saysOf(status)).not.toContain('late');
    expect(saysOf(status, first)).toContain('Rows that came late');
  }
});

it('says of a project that rows of it came late', () => {
  const textOf = (times: { completeTime?: typeof first; firstCompleteTime?: typeof first }) =>
    stateOf(create(ProjectDeletionSchema, { events: 3n, ...times }));
  const one = create(ProjectDeletionSchema, { events: 1n, completeTime: first });
  expect(stateOf(one)).toBe('Deleted, with 1 event');
  expect(textOf({})).toBe('Its data are being deleted');
  expect(textOf({ completeTime: first })).toBe('Deleted, with 3 events');
  expect(textOf({ firstCompleteTime: first })).toBe('Rows that came late are being deleted');
  expect(textOf({ completeTime: again, firstCompleteTime: first })).toBe(
    'Deleted, with 3 events; rows that came late were deleted, too',
  );
});
