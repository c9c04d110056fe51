// What the turns of kept exports are made with.

import type { ResultReader, RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ExportFiles } from '../../platform/exports/export-files.ts';
import type { ExportRecord } from '../../platform/exports/export-record.ts';
import type { Log } from '../../platform/log.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import type { HeldRecord, LeasedBucket } from '../../platform/turns/held-record.ts';
import type { QueueParts } from '../../platform/webhooks/project-deliveries.ts';
import type { CompleteUntil } from '../insights/run/complete-until.ts';
import type { ReadSegments } from './export-query.ts';
import type { KeptRoom } from './files/write-part.ts';

export interface ExportParts {
  states: LeasedBucket<ExportRecord>;
  /** The record as memory has it; undefined where it has none. */
  known(key: string): ExportRecord | undefined;
  files: Pick<ExportFiles, 'make' | 'write' | 'readText' | 'remove'>;
  directoryId: string;
  room: KeptRoom;
  group(projectId: string): RowReader & ResultReader;
  completeUntilMs: CompleteUntil;
  readSegments: ReadSegments;
  /** Rows of a file. */
  partRows: number;
  project(projectId: string): { organizationId: string; displayName: string } | undefined;
  /** Those of the customers who may see the project and have proven their address. */
  members(
    project: { organizationId: string; projectId: string },
    customerIds: readonly string[],
  ): readonly { customerId: string; email: string }[];
  deliveries: QueueParts;
  /** Takes at most 40 s. */
  sendMail(organizationId: string, mail: Mail): Promise<MailOutcome>;
  /** Where people reach the service, without a slash at the end. */
  publicUrl(): string;
  /** The process ends: what is under way is left to the next one. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
}

/** An export under the lease of this process. */
export interface HeldExport {
  key: string;
  projectId: string;
  held: HeldRecord<ExportRecord>;
}
