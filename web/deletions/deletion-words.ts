// How far the erasure of a person and the deletion of a project are, in words: also where they were opened again for
// rows that came late.

import { plural } from '../../platform/words/figures.ts';
import type { ProjectDeletion } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import {
  ComplianceRequestStatus,
  type GetDeletionRequestResponse,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';

export function wordsOf({ status, firstCompletedAt }: GetDeletionRequestResponse): {
  name: string;
  tone: string;
  says: string;
} {
  const isAgain = firstCompletedAt !== undefined;
  switch (status) {
    case ComplianceRequestStatus.PENDING:
      return {
        name: 'waiting',
        tone: '',
        says: isAgain
          ? 'Rows that came late were found. They are erased within seconds.'
          : 'It begins within seconds.',
      };
    case ComplianceRequestStatus.PROCESSING:
      return {
        name: 'under way',
        tone: '',
        says: isAgain
          ? 'Rows that came late are deleted.'
          : 'The user is hidden. What is queued is stored first, then all rows are deleted.',
      };
    case ComplianceRequestStatus.COMPLETED:
      return {
        name: 'completed',
        tone: 'good',
        says: 'A scan found no row of the user. Backups that were taken before have them.',
      };
    case ComplianceRequestStatus.FAILED:
      return { name: 'failed', tone: 'bad', says: 'Ask for the erasure once more.' };
    case ComplianceRequestStatus.UNSPECIFIED:
      return { name: 'unknown', tone: '', says: '' };
    default:
      return status satisfies never;
  }
}

export function stateOf({ completeTime, firstCompleteTime, events }: ProjectDeletion): string {
  const isAgain = firstCompleteTime !== undefined;
  if (completeTime === undefined) {
    return isAgain ? 'Rows that came late are being deleted' : 'Its data are being deleted';
  }
  const late = isAgain ? '; rows that came late were deleted, too' : '';
  return `Deleted, with ${plural(events, 'event')}${late}`;
}
