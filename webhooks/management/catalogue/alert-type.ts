// The type of deliveries that tell of alerts, in the catalogue: the schema of its data, and an example.

import { hourMs } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { type PayloadAlert, renderAlert } from '../../../platform/webhooks/alert-payload.ts';

const text = { type: 'string' } as const;
const time = { ...text, format: 'date-time' } as const;
const states = ['ALERT_STATE_OK', 'ALERT_STATE_FIRING', 'ALERT_STATE_NO_DATA'];

const properties = {
  eventId: { ...text, description: 'The id of the change, in all deliveries of it.' },
  alertId: text,
  name: text,
  state: { enum: states },
  previousState: { enum: states },
  condition: {
    ...text,
    description: 'What is compared: a kind of condition of dashboard.alerts.v1.',
  },
  threshold: { type: 'number' },
  value: { type: ['number', 'null'], description: 'null where there was nothing to compare.' },
  from: { ...time, description: 'The first moment of the period that showed it.' },
  to: { ...time, description: 'Its end.' },
};

/** JSON Schema, 2020-12. */
export const alertData: JsonObject = {
  type: 'object',
  properties,
  required: Object.keys(properties),
  description: 'The change of state.',
};

/** An example, up to the webhook. It says that it is a test. */
export function exampleAlert(
  of: Pick<PayloadAlert, 'organizationId' | 'projectId' | 'eventId' | 'occurTimeMs'>,
): string {
  const toMs = Math.floor(of.occurTimeMs / hourMs) * hourMs;
  return renderAlert({
    ...of,
    isTest: true,
    ...{ alertId: '3d6f0a9e-5c1b-4f0a-8d2e-7b9c1a2d3e4f', name: 'Few sign-ups' },
    ...{ state: 'ALERT_STATE_FIRING', previousState: 'ALERT_STATE_OK' },
    ...{ condition: 'ALERT_CONDITION_KIND_BELOW', threshold: 10, value: 4 },
    ...{ fromMs: toMs - hourMs, toMs },
  });
}
