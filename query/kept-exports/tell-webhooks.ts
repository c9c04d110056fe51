// Tells webhooks that an export is ready: their deliveries are queued, once whatever dies.

import type { ExportRecord } from '../../platform/exports/export-record.ts';
import { sizeOf } from '../../platform/exports/export-record.ts';
import { renderExport } from '../../platform/webhooks/export-payload.ts';
import { type QueueParts, queueDeliveries } from '../../platform/webhooks/project-deliveries.ts';
import { askedOf, queryOf } from './export-query.ts';

/** `later`: at least one is not known to be queued. A second call queues none twice. */
export async function tellWebhooks(
  parts: QueueParts,
  { projectId, organizationId }: { projectId: string; organizationId: string },
  record: ExportRecord,
): Promise<'queued' | 'later'> {
  const { id: exportId, stateMs, completeUntilMs, expireMs } = record;
  const { what, format } = askedOf(queryOf(record.query));
  const part = renderExport({
    ...{ organizationId, projectId, exportId, occurTimeMs: stateMs },
    ...{ what, format, ...sizeOf(record) },
    files: record.parts.map(({ name }) => name),
    ...{ completeUntilMs, expireMs },
  });
  return queueDeliveries(parts, {
    ...{ organizationId, projectId, eventType: 'export_ready', eventId: exportId },
    ...{ timeMs: stateMs, part },
  });
}
