// The users that a reader has loaded, in the columns that are shown: values for other programs.

import type { Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { toCsv } from '../exports/csv.ts';
import type { UserColumn } from './profile-columns.tsx';

export function rowsCsv(rows: readonly Profile[], columns: readonly UserColumn[]): string {
  return toCsv({
    columns: columns.map(({ name }) => name),
    rows: rows.map((profile) => columns.map(({ plain }) => plain(profile))),
  });
}
