// The body of a delivery that tells a change of an alert's state, up to the webhook: see payload.ts.
//
//   {deliveryId, webhookId, organizationId, projectId, eventType: "alert", occurTime, test: true (of a test alone),
//    data: {eventId, alertId, name, state, previousState, condition, threshold, value (null where there was nothing to
//    compare), from, to}}

export interface PayloadAlert {
  organizationId: string;
  projectId: string;
  /** The change's. */
  eventId: string;
  /** When the change was found, in ms since the epoch. */
  occurTimeMs: number;
  /** Nothing has changed: it is sent to try an endpoint, or is an example. */
  isTest?: boolean;
  alertId: string;
  name: string;
  /** As dashboard.alerts.v1 names them. */
  state: string;
  previousState: string;
  condition: string;
  threshold: number;
  value: number | null;
  /** The period that showed it. */
  fromMs: number;
  toMs: number;
}

/** The part of the payload that all webhooks have in common. */
export function renderAlert(alert: PayloadAlert): string {
  const { organizationId, projectId, eventId, alertId, name, state, previousState } = alert;
  const { condition, threshold, value, fromMs, toMs } = alert;
  const body = {
    ...{ organizationId, projectId, eventType: 'alert' },
    occurTime: timeText(alert.occurTimeMs),
    ...(alert.isTest === true && { test: true }),
    data: {
      ...{ eventId, alertId, name, state, previousState, condition, threshold, value },
      ...{ from: timeText(fromMs), to: timeText(toMs) },
    },
  };
  // payloadOf writes what comes before.
  return JSON.stringify(body).slice(1);
}

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
