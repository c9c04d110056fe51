// What the turns of scheduled exports are made with.

import type { ResultReader, RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ExportFiles } from '../../platform/exports/export-files.ts';
import type { ScheduleRecord } from '../../platform/exports/schedule-record.ts';
import type { Log } from '../../platform/log.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import type { HeldRecord, LeasedBucket } from '../../platform/turns/held-record.ts';
import type { CompleteUntil } from '../insights/run/complete-until.ts';
import type { ReadSegments } from '../kept-exports/export-query.ts';
import type { KeptRoom } from '../kept-exports/files/write-part.ts';
import type { ObjectStore } from './store/object-store.ts';

export interface ScheduleParts {
  states: LeasedBucket<ScheduleRecord>;
  /** The record as memory has it; undefined where it has none. */
  known(key: string): ScheduleRecord | undefined;
  /** Where a file waits until it is in the bucket. */
  files: Pick<ExportFiles, 'make' | 'write' | 'remove' | 'pathOf'>;
  room: KeptRoom;
  group(projectId: string): RowReader & ResultReader;
  completeUntilMs: CompleteUntil;
  readSegments: ReadSegments;
  /** Rows of a file. */
  partRows: number;
  /** Its caller closes it. Throws StoreFailure where the secret does not open. */
  openStore(record: ScheduleRecord): ObjectStore;
  project(projectId: string): { organizationId: string; displayName: string } | undefined;
  /** Those of the customers who may see the project and have proven their address. */
  members(
    project: { organizationId: string; projectId: string },
    customerIds: readonly string[],
  ): readonly { email: string }[];
  /** The organization's admins who have proven their address. */
  admins(organizationId: string): readonly { email: string }[];
  /** Takes at most 40 s. */
  sendMail(organizationId: string, mail: Mail): Promise<MailOutcome>;
  /** Where people reach the service, without a slash at the end. */
  publicUrl(): string;
  /** The process ends: what is under way is left to the next one. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}

/** A scheduled export under the lease of this process. */
export interface HeldSchedule {
  key: string;
  projectId: string;
  held: HeldRecord<ScheduleRecord>;
}
