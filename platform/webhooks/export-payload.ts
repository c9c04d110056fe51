// The body of a delivery that tells that a kept export is ready, up to the webhook: see payload.ts.
//
//   {deliveryId, webhookId, organizationId, projectId, eventType: "export_ready", occurTime,
//    test: true (of a test alone), data: {eventId, exportId, what, format, rows, bytes, files: [name, ...],
//    completeUntil (null where nobody could tell), expireTime}}

export interface PayloadExport {
  organizationId: string;
  projectId: string;
  /** The export's id, in all deliveries of it. */
  exportId: string;
  /** When it became ready, in ms since the epoch. */
  occurTimeMs: number;
  /** No export is ready: it is sent to try an endpoint, or is an example. */
  isTest?: boolean;
  /** As GET /export names them. */
  what: string;
  format: string;
  rows: number;
  bytes: number;
  /** Names of its files, without the manifest. */
  files: readonly string[];
  /** 0 where nobody could tell. */
  completeUntilMs: number;
  expireMs: number;
}

/** The part of the payload that all webhooks have in common. */
export function renderExport(told: PayloadExport): string {
  const { organizationId, projectId, exportId, what, format, rows, bytes, files } = told;
  const body = {
    ...{ organizationId, projectId, eventType: 'export_ready' },
    occurTime: timeText(told.occurTimeMs),
    ...(told.isTest === true && { test: true }),
    data: {
      ...{ eventId: exportId, exportId, what, format, rows, bytes, files },
      completeUntil: told.completeUntilMs === 0 ? null : timeText(told.completeUntilMs),
      expireTime: timeText(told.expireMs),
    },
  };
  // payloadOf writes what comes before.
  return JSON.stringify(body).slice(1);
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
