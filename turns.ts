// What the service does by itself when its time has come, in each process that answers questions: it looks at alerts,
// sends reports, and writes exports. A lease in a record gives each turn to one process.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { startAlerts } from './alerts/start.ts';
import { dataDirReserve, type Foundation } from './foundation.ts';
import { customerOf, principalOf } from './platform/access/auth-interceptor.ts';
import { buckets } from './platform/broker/buckets.ts';
import type { Config } from './platform/config.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { createCompleteUntil } from './query/insights/run/complete-until.ts';
import { type KeptExports, openKeptExports } from './query/kept-exports/start.ts';
import type { OwnQuestions } from './query/routes.ts';
import { openScheduledExports } from './query/scheduled-exports/start.ts';
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

export interface Exports {
  /** GET /export, and the files that are kept. */
  routes: KeptExports['routes'];
  /** Registers the methods. */
  register(router: ConnectRouter): void;
}

/** Undefined where the process has no ClickHouse. Begins to write what was asked for before. */
export async function openExports(
  config: Config,
  { clickhouse, rooms, control, projects, listening, ...foundation }: Foundation,
  shutdown: Shutdown,
): Promise<Exports | undefined> {
  if (clickhouse === undefined) return undefined;
  const { shards, dataDir, accounts } = config;
  const shared = {
    ...{ ...foundation, clickhouse, dataDir },
    completeUntilMs: createCompleteUntil({ ...foundation, shards }),
    reserveBytes: dataDirReserve(config),
    mail: control.organizationMail,
    project: (projectId: string) => projects.get(projectId)?.record,
    findSegment: control.findSegment,
    timezoneOf: (projectId: string) => projects.get(projectId)?.record.timezone ?? 'UTC',
    publicUrl: () => accounts.publicUrl ?? listening.url,
  };
  const bucketRoom = rooms.roomOf(buckets.exports);
  const kept = await openKeptExports({ ...shared, bucketRoom, callerOf: principalOf });
  shutdown.add('kept exports', () => kept.stop());
  const scheduled = await openScheduledExports({
    ...shared,
    bucketRoom: rooms.roomOf(buckets.exportSchedules),
    box: control.box,
    allowed: config.webhooks.allowedNetworks,
    isProven: (customerId) => control.customers.get(customerId)?.emailVerified === true,
    callerOf: (context) => ({ ...customerOf(context), ...principalOf(context) }),
  });
  shutdown.add('scheduled exports', () => scheduled.stop());
  return {
    routes: kept.routes,
    register(router) {
      kept.register(router);
      scheduled.register(router);
    },
  };
}
