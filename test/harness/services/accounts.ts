// The accounts service as users meet it: real HTTP, the real router with access checks, a real broker; mails land in
// files. Methods of the other services are there with empty implementations, so that their access checks can be tested
// too.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DescService } from '@bufbuild/protobuf';
import {
  type Client,
  type ConnectRouter,
  createClient,
  type Interceptor,
} from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { defaultAttemptLimits } from '../../../control/auth/attempts.ts';
import { type Control, type ControlOptions, startControl } from '../../../control/start.ts';
import { serviceAliases } from '../../../platform/access/access-table.ts';
import {
  checkAccessFirst,
  createAuthInterceptor,
} from '../../../platform/access/auth-interceptor.ts';
import { createAuthenticate } from '../../../platform/access/authenticate.ts';
import { createOnlyThisMachine } from '../../../platform/access/only-this-machine.ts';
import {
  ProjectDirectory,
  type ProjectRecord,
  readProject,
} from '../../../platform/access/projects.ts';
import { readAccountSettings } from '../../../platform/account-settings.ts';
import { type BucketRooms, followBucketRoom } from '../../../platform/broker/bucket-room.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { type WatchedBucket, watchBucket } from '../../../platform/broker/watched-bucket.ts';
import { type Clock, systemClock } from '../../../platform/clock.ts';
import { openErasures } from '../../../platform/erasure/open-erasures.ts';
import { type NodeHttpRoute, startHttp } from '../../../platform/http/http.ts';
import { createLog } from '../../../platform/log.ts';
import { createMetrics, type Metrics } from '../../../platform/metrics.ts';
import { AlertsService } from '../../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { AnnotationsService } from '../../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import { CustomersService } from '../../../proto/gen/dashboard/customers/v1/customers_pb.js';
import { DashboardsService } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { ExportSchedulesService } from '../../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import { GoalsService } from '../../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { ImportsService } from '../../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { OperatorService } from '../../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { OrgEmailProvidersService } from '../../../proto/gen/dashboard/orgemailproviders/v1/org_email_providers_pb.js';
import { OrgsService } from '../../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ProjectsService } from '../../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { ReportsService } from '../../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { SegmentsService } from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { EventsService as PlainEventsService } from '../../../proto/gen/events/v1/events_pb.js';
import { AuthService, type SignUpResponse } from '../../../proto/gen/public/auth/v1/auth_pb.js';
import { SharedDashboardsService } from '../../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { MailedReportsService } from '../../../proto/gen/public/reports/v1/mailed_reports_pb.js';
import { EventsService } from '../../../proto/gen/sdk/events/v1/events_pb.js';
import { ProfilesSDKService } from '../../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { ActivityService } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { ExportsService } from '../../../proto/gen/shared/exports/v1/exports_pb.js';
import { InsightsService } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { ProfilesService } from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { checkQuestion } from '../../../query/boards/check-question.ts';
import { openStatements } from '../../../query/statements/open-statements.ts';

interface AccountsOptions {
  brokerUrl: string;
  /** An existing data directory; otherwise a temporary one, removed by `close`. */
  dataDir?: string;
  clock?: Clock;
  env?: Record<string, string>;
  control?: Partial<ControlOptions>;
  staleAfterMs?: number;
  isDiskScarce?: () => boolean;
  /** Registers the read services; otherwise their methods answer nothing. */
  reads?: (router: ConnectRouter, control: Control) => void;
  /** Routes in front of the router. */
  routes?: (parts: RouteParts) => Promise<NodeHttpRoute[]>;
}

interface RouteParts {
  control: Control;
  connection: NatsConnection;
  projects: WatchedBucket<ProjectRecord>;
  rooms: BucketRooms;
}

export interface AccountsProcess {
  baseUrl: string;
  dataDir: string;
  control: Control;
  connection: NatsConnection;
  projects: WatchedBucket<ProjectRecord>;
  rooms: BucketRooms;
  metrics: Metrics;
  /** What requests hold at this moment. */
  heldBytes(): number;
  /** Clients that send these headers. */
  as(headers?: Record<string, string>): Clients;
  client<S extends DescService>(service: S, headers?: Record<string, string>): Client<S>;
  /** The texts of the mails sent so far to the address, oldest first. */
  mailsTo(address: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface Clients {
  auth: Client<typeof AuthService>;
  orgs: Client<typeof OrgsService>;
  projects: Client<typeof ProjectsService>;
  customers: Client<typeof CustomersService>;
  providers: Client<typeof OrgEmailProvidersService>;
  dashboards: Client<typeof DashboardsService>;
  shared: Client<typeof SharedDashboardsService>;
  alerts: Client<typeof AlertsService>;
  reports: Client<typeof ReportsService>;
  mailedReports: Client<typeof MailedReportsService>;
  annotations: Client<typeof AnnotationsService>;
  goals: Client<typeof GoalsService>;
  segments: Client<typeof SegmentsService>;
  imports: Client<typeof ImportsService>;
}

const log = createLog('silent');
/** The usual limits of attempts, but none for an address. */
export const unlimited = { ...defaultAttemptLimits, perAddress: 0 };

export async function startAccounts(options: AccountsOptions): Promise<AccountsProcess> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'millrace-accounts-'));
  const connection = await connectBroker(options.brokerUrl, log);
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  const metrics = createMetrics();
  const disk = { isScarce: () => options.isDiskScarce?.() ?? false };
  const rooms = await followBucketRoom(connection, { log, metrics, disk });
  const roomOf = rooms.roomOf.bind(rooms);
  const room = roomOf(buckets.projects);
  const bucket = await openBucket(connection, buckets.projects, readProject, room);
  const projects = await watchBucket(connection, bucket, { log });
  const ends: (() => Promise<unknown>)[] = [];
  const shutdown = { add: (_: string, end: () => Promise<unknown>) => void ends.push(end) };
  const erasures = await openErasures(connection, undefined, { log, shutdown });
  const ground = { connection, projects, roomOf, dataDir, deletions: erasures.known };
  const control = await startControlOf(options, ground);
  const { staleAfterMs } = options;
  const stale = staleAfterMs === undefined ? {} : { staleAfterMs };
  const { clock = systemClock } = options;
  const directory = new ProjectDirectory(projects, { ...stale, clock });
  const authenticate = createAuthenticate(directory, control.customerAccess);
  const http = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: (await options.routes?.({ control, connection, projects, rooms })) ?? [],
    connect: {
      routes: (router) => {
        registerAll(router, control, options.reads ?? readNothing);
        checkAccessFirst(router, authenticate);
      },
      interceptors: [createAuthInterceptor(authenticate), ...control.interceptors],
    },
    serviceAliases,
  });
  const baseUrl = `http://127.0.0.1:${http.port}`;
  const client: AccountsProcess['client'] = (service, headers = {}) =>
    createClient(
      service,
      createConnectTransport({ baseUrl, httpVersion: '1.1', interceptors: [sending(headers)] }),
    );
  return {
    baseUrl,
    dataDir,
    control,
    connection,
    projects,
    rooms,
    metrics,
    heldBytes: () => http.heldBytes(),
    client,
    as: (headers) => ({
      auth: client(AuthService, headers),
      orgs: client(OrgsService, headers),
      projects: client(ProjectsService, headers),
      customers: client(CustomersService, headers),
      providers: client(OrgEmailProvidersService, headers),
      dashboards: client(DashboardsService, headers),
      shared: client(SharedDashboardsService, headers),
      alerts: client(AlertsService, headers),
      reports: client(ReportsService, headers),
      mailedReports: client(MailedReportsService, headers),
      annotations: client(AnnotationsService, headers),
      goals: client(GoalsService, headers),
      segments: client(SegmentsService, headers),
      imports: client(ImportsService, headers),
    }),
    async mailsTo(address) {
      await control.outbox.idle();
      return mailFiles(dataDir).filter((text) => text.includes(`To: ${address}`));
    },
    async close() {
      await http.close(0);
      await control.close();
      await projects.close();
      for (const end of ends) await end();
      rooms.close();
      await connection.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function registerAll(
  router: ConnectRouter,
  control: Control,
  reads: NonNullable<AccountsOptions['reads']>,
): void {
  control.register(router);
  for (const service of [EventsService, PlainEventsService, ProfilesSDKService]) {
    router.service(service, answersNothing(service));
  }
  reads(router, control);
}

function startControlOf(
  options: AccountsOptions,
  ground: Pick<ControlOptions, 'connection' | 'projects' | 'deletions' | 'roomOf' | 'dataDir'>,
): Promise<Control> {
  const problems: string[] = [];
  const settings = readAccountSettings((name) => options.env?.[name], problems);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return startControl({
    ...ground,
    clock: options.clock ?? systemClock,
    log,
    settings,
    publicUrl: () => 'http://dashboard.test',
    addressOf: ({ peerAddress }) => peerAddress,
    onlyThisMachine: createOnlyThisMachine({
      host: '127.0.0.1',
      facesOthers: settings.publicUrl !== undefined,
    }),
    attemptLimits: unlimited,
    checkQuestion,
    // Of a process without a store.
    checkStatement: openStatements({ clickhouse: undefined, memoryBytes: 0, log }).onBoards.check,
    ...options.control,
  });
}

/** The headers of a customer, with a project where one is given. */
export function bearer(
  session: { accessToken: string },
  projectId?: string,
): Record<string, string> {
  return {
    authorization: `Bearer ${session.accessToken}`,
    ...(projectId !== undefined && { 'x-project-id': projectId }),
  };
}

let customers = 0;

/** Signs up a customer who is new to the run. */
export async function newCustomer(
  accounts: AccountsProcess,
  name = 'customer',
): Promise<SignUpResponse & { email: string; orgId: string; projectId: string }> {
  const email = `${name}-${++customers}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const session = await accounts.as().auth.signUp({ email, password: 'correct horse' });
  const { orgs } = await accounts.as(bearer(session)).orgs.list({});
  const { projects } = await accounts.as(bearer(session)).projects.list({});
  return { ...session, email, orgId: orgs[0]?.id ?? '', projectId: projects[0]?.id ?? '' };
}

/** The token in the newest mail. */
export function tokenIn(mails: readonly string[]): string {
  return /token=([\w.-]+)/.exec(mails.at(-1) ?? '')?.[1] ?? '';
}

function mailFiles(dataDir: string): string[] {
  const directory = join(dataDir, 'mail');
  try {
    return readdirSync(directory)
      .sort()
      .map((name) => readFileSync(join(directory, name), 'utf8'));
  } catch {
    return [];
  }
}

function sending(headers: Record<string, string>): Interceptor {
  return (next) => (request) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request);
  };
}

function answersNothing(service: DescService) {
  return Object.fromEntries(
    service.methods.map((method) => [
      method.localName,
      method.methodKind === 'server_streaming' ? nothing : () => ({}),
    ]),
  );
}

function readNothing(router: ConnectRouter): void {
  const services = [ProfilesService, ActivityService, InsightsService, OperatorService];
  for (const service of [...services, ExportsService, ExportSchedulesService]) {
    router.service(service, answersNothing(service));
  }
  router.rpc(DashboardsService.method.render, () => ({}));
  router.rpc(GoalsService.method.measure, () => ({}));
  router.rpc(SegmentsService.method.count, () => ({}));
  router.rpc(AlertsService.method.test, () => ({}));
  router.rpc(ReportsService.method.preview, () => ({}));
  router.rpc(ReportsService.method.test, () => ({}));
  router.rpc(SharedDashboardsService.method.render, () => ({}));
}

async function* nothing(): AsyncGenerator<object> {}
