// Puts alerts together for one process: their turns, and AlertsService.Test. What alerts there are is control/'s to
// change.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import type { AlertStateRecord } from '../platform/alerts/alert-state.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import type { RecordBucket } from '../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../platform/broker/watched-bucket.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { ProjectItemsRecord } from '../platform/project-items/project-items.ts';
import { runTurns, type Turns } from '../platform/turns/run-turns.ts';
import { publishMessage } from '../platform/webhooks/publish-message.ts';
import type { WebhookDirectory } from '../platform/webhooks/webhook-directory.ts';
import { AlertsService } from '../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import type { AskQuestion } from './looking/measure.ts';
import { takeTurn } from './looking/take-turn.ts';
import { createOwnedAlerts, type OwnedAlert } from './owned-alerts.ts';
import { createQueueAlert } from './telling/queue-alert.ts';
import type { TellingParts } from './telling/tell-changes.ts';
import { testAlert } from './telling/test-alert.ts';

/** A project as alerts know it; undefined where it is gone. */
interface ProjectOfAlerts {
  organizationId: string;
  displayName: string;
  timezone: string;
}

export interface AlertsOptions {
  nats: NatsConnection;
  items: Pick<WatchedBucket<ProjectItemsRecord>, 'records' | 'get' | 'ask'>;
  states: RecordBucket<AlertStateRecord>;
  webhooks: Pick<WebhookDirectory, 'webhooksOf'>;
  project(projectId: string): ProjectOfAlerts | undefined;
  mail: { members: TellingParts['recipients']; send: TellingParts['sendMail'] };
  ask: AskQuestion;
  publicUrl(): string;
  callerOf(context: HandlerContext): { projectId: string; customerId: string };
  clock: Clock;
  log: Log;
}

/** Registers the method, and begins to look. */
export function startAlerts(router: ConnectRouter, options: AlertsOptions): Turns {
  const { nats, items, states, webhooks, project, mail, ask, callerOf, clock, log } = options;
  const alerts = createOwnedAlerts({
    items,
    organizationOf: (projectId) => project(projectId)?.organizationId,
  });
  const queue = {
    webhooks,
    publish: (subject: string, content: Uint8Array, messageId: string) =>
      publishMessage(nats, subject, content, messageId),
  };
  const parts = {
    ...{ ...queue, alerts, states, ask, clock, log },
    recipients: mail.members,
    sendMail: mail.send,
    queueAlert: createQueueAlert(queue),
    projectName: (projectId: string) => project(projectId)?.displayName ?? '',
    timezoneOf: (projectId: string) => project(projectId)?.timezone ?? 'UTC',
    publicUrl: options.publicUrl,
  };
  router.rpc(AlertsService.method.test, (request, context) =>
    testAlert(parts, request, callerOf(context)),
  );
  const turns = { ...parts, upSinceMs: clock.nowMs() };
  return runTurns<OwnedAlert>({
    ...{ noun: 'alert', clock, log },
    all: () => alerts.all(),
    nameOf: ({ alert: { id, updateTime } }) => `${id} ${updateTime?.seconds} ${updateTime?.nanos}`,
    organizationOf: ({ organizationId }) => organizationId,
    take: (owned) => takeTurn(turns, owned),
  });
}
