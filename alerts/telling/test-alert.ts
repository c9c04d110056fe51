// AlertsService.Test: asks the question of an alert now, and sends what it would tell as a test. The alert stays as it
// is.

import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { type ChangeRecord, newTelling } from '../../platform/alerts/alert-state.ts';
import type { QueueParts } from '../../platform/webhooks/project-deliveries.ts';
import {
  AlertLookSchema,
  AlertState,
  type TestRequest,
  type TestResponse,
  TestResponseSchema,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { type AskQuestion, measure } from '../looking/measure.ts';
import { nextState } from '../looking/next-state.ts';
import { lastPeriod } from '../looking/periods.ts';
import type { OwnedAlert, OwnedAlerts } from '../owned-alerts.ts';
import { alertMail } from './alert-mail.ts';
import { queueTests } from './queue-alert.ts';
import type { TellingParts } from './tell-changes.ts';

export interface TestParts extends TellingParts, QueueParts {
  alerts: Pick<OwnedAlerts, 'find'>;
  ask: AskQuestion;
}

/** Throws not_found where the project has no such alert, and what questions throw. */
export async function testAlert(
  parts: TestParts,
  { id }: TestRequest,
  caller: { projectId: string; customerId: string },
): Promise<TestResponse> {
  const owned = await parts.alerts.find(caller.projectId, id);
  if (owned === undefined) throw new ConnectError('there is no such alert', Code.NotFound);
  const change = await asked(parts, owned);
  const webhooks = await queueTests(parts, owned, change);
  const problem = await mailed(parts, owned, change, caller.customerId);
  const { fromMs, toMs, value } = change.look;
  return create(TestResponseSchema, {
    look: create(AlertLookSchema, {
      ...{ from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
      ...(value !== null && { value }),
    }),
    state: AlertState[change.state],
    isMailed: problem === '',
    ...{ webhooks, problem },
  });
}

async function asked(
  { ask, timezoneOf, clock }: TestParts,
  owned: OwnedAlert,
): Promise<ChangeRecord> {
  const { projectId, alert } = owned;
  const timezone = timezoneOf(projectId);
  const nowMs = clock.nowMs();
  const period = lastPeriod(alert.interval, timezone, nowMs);
  const { value } = await measure(ask, { projectId, alert, timezone }, period);
  const state = alert.condition ? nextState('OK', alert.condition, value) : 'NO_DATA';
  return {
    ...{ id: randomUUID(), state, before: 'OK', timeMs: nowMs, telling: newTelling },
    look: { ...period, value },
  };
}

/** Why the caller has no mail; empty where the server took it. */
async function mailed(
  parts: TestParts,
  owned: OwnedAlert,
  change: ChangeRecord,
  customerId: string,
): Promise<string> {
  const { organizationId } = owned;
  const [caller] = parts.recipients(owned, [customerId]);
  if (caller === undefined) return 'your address is not proven: open a link that was mailed to it';
  const mail = alertMail(parts, owned, { ...change, isTest: true });
  const outcome = await parts.sendMail(organizationId, { to: caller.email, ...mail });
  return outcome.kind === 'sent' ? '' : outcome.reason;
}
