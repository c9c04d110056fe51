// What the service does by itself when its time has come, in each process that answers questions: it looks at alerts,
// and sends reports. A lease in a record gives each turn to one process.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { startAlerts } from './alerts/start.ts';
import type { Foundation } from './foundation.ts';
import { customerOf, principalOf } from './platform/access/auth-interceptor.ts';
import type { Shutdown } from './platform/shutdown.ts';
import type { OwnQuestions } from './query/routes.ts';
import { startReports } from './reports/start.ts';

/** Registers their methods, and takes turns until the shutdown. */
export function startTurns(
  router: ConnectRouter,
  { nats, webhooks, control, projects, listening, clock, log }: Foundation,
  { ask, renderPeriod }: OwnQuestions,
  publicUrl: string | undefined,
  shutdown: Shutdown,
): void {
  const { projectItems: items, alertStates, reportStates } = control.turnRecords;
  const shared = {
    ...{ items, clock, log, mail: control.organizationMail },
    project: (projectId: string) => projects.get(projectId)?.record,
    publicUrl: () => publicUrl ?? listening.url,
    callerOf: (context: HandlerContext) => ({ ...customerOf(context), ...principalOf(context) }),
  };
  const alerts = startAlerts(router, { ...shared, nats, webhooks, ask, states: alertStates });
  shutdown.add('alerts', () => alerts.stop());
  if (renderPeriod === undefined) return;
  const reports = startReports(router, { ...shared, renderPeriod, states: reportStates });
  shutdown.add('reports', () => reports.stop());
}
