// The composition root of the accounts service: puts buckets, keys, mail and providers together, once per process.
// Every process needs it to recognize customers; processes with the role `control` also register its methods.

import type { ConnectRouter, HandlerContext, Interceptor } from '@connectrpc/connect';
import type { CustomerAccess } from '../platform/access/authenticate.ts';
import {
  createCustomerAccess,
  createPlaceOf,
  type PlaceOf,
} from '../platform/access/customer-access.ts';
import type { OnlyThisMachine } from '../platform/access/only-this-machine.ts';
import { createOrganizationInterceptor } from '../platform/access/organization-interceptor.ts';
import {
  createOrganizationDirectory,
  type OrganizationDirectory,
} from '../platform/access/organizations.ts';
import type { ProjectRecord } from '../platform/access/projects.ts';
import { boundRequests } from '../platform/access/request-bounds.ts';
import type { AccountSettings } from '../platform/account-settings.ts';
import type { BucketRoom } from '../platform/broker/bucket-room.ts';
import type { BucketName } from '../platform/broker/buckets.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import type { WatchedBucket } from '../platform/broker/watched-bucket.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReadDashboard } from '../platform/dashboards/dashboard-reader.ts';
import {
  createShareDirectory,
  type ShareDirectory,
} from '../platform/dashboards/share-directory.ts';
import type { DeletionRequests } from '../platform/erasure/ask-for-deletion.ts';
import { type CallerRequest, callerRequestOf } from '../platform/http/caller-request.ts';
import type { NodeHttpRoute } from '../platform/http/http.ts';
import { ImportFiles } from '../platform/imports/import-files.ts';
import type { Log } from '../platform/log.ts';
import { openSecretBox, type SecretBox } from '../platform/secrets/secret-box.ts';
import {
  type AccessTokens,
  createAccessTokens,
  signedTokenLifetimeMs,
} from './auth/access-token.ts';
import { type AttemptLimits, createAttempts, defaultAttemptLimits } from './auth/attempts.ts';
import { createMagicLinks } from './auth/magic-link.ts';
import { createOAuthProvider } from './auth/oauth-provider.ts';
import { createPasswords, type Passwords } from './auth/passwords.ts';
import { createProvenAddress } from './auth/proven-address.ts';
import { createChallenges } from './auth/second-factor/challenge.ts';
import { createSecondFactors } from './auth/second-factor/second-factors.ts';
import { createSessions } from './auth/session.ts';
import { createMayJoin } from './auth/sign-in/may-join.ts';
import { createBeginSession, createSignInCustomer } from './auth/sign-in/sign-in-customer.ts';
import { openSigningKeys } from './auth/signing-keys.ts';
import { type ControlBuckets, openControlBuckets } from './buckets.ts';
import { type ChangeLimits, createChangeLimit, defaultChangeLimits } from './change-limit.ts';
import { type CustomerStore, createCustomerStore } from './customers/customer-store.ts';
import { ensureFirstProject } from './customers/first-project.ts';
import { createProveCustomer } from './customers/proven-customer.ts';
import { createSessionPlaces } from './customers/session-places.ts';
import { createEndUnprovenGrants } from './customers/unproven-grants.ts';
import { openDashboards } from './dashboards/open-dashboards.ts';
import type { CheckQuestion, CheckStatement } from './dashboards/tile-fields.ts';
import { issueOpening, type Opening } from './demo/open-demo.ts';
import { createFailureInterceptor } from './failure-interceptor.ts';
import type { ImportSettings } from './imports/import-rpc.ts';
import { refuseLostCustomers } from './lost-customers.ts';
import { createOrganizationMail, type OrganizationMail } from './mail/organization-mail.ts';
import { type Mail, startMail } from './mail/start-mail.ts';
import { createTellOfSecondFactor } from './mail/tell-of-second-factor.ts';
import { createOpenCallLimit } from './open-call-limit.ts';
import { type ItemReads, itemReads, openItems } from './project-items/open-items.ts';
import {
  createProjectsByOrganization,
  type ProjectsByOrganization,
} from './projects/by-organization.ts';
import { ensureProjectWithKey } from './projects/project-record.ts';
import { createListedRows } from './projects/project-rpc.ts';
import { createOneClickRoute } from './reports/one-click-route.ts';
import { type ControlDeps, registerControl } from './routes.ts';

export interface ControlOptions {
  connection: NatsConnection;
  projects: WatchedBucket<ProjectRecord>;
  dataDir: string;
  clock: Clock;
  log: Log;
  settings: AccountSettings;
  /** Requests to delete projects, organizations and accounts. */
  deletions: DeletionRequests;
  /** The room that callers' records may take in each bucket. */
  roomOf: (name: BucketName) => BucketRoom;
  /** The dashboard's base URL for people, without a slash at the end. */
  publicUrl: () => string;
  /** The address of the person or program that sent a request; limits on attempts count by it. */
  addressOf: (request: CallerRequest) => string | undefined;
  /** Whether a request can have come from this machine alone. */
  onlyThisMachine: OnlyThisMachine;
  /** The rules of a dashboard's questions. */
  checkQuestion: CheckQuestion;
  /** The judge of statements on dashboards. */
  checkStatement: CheckStatement;
  /** Whether people may bring files of history; they may unless given. */
  imports?: ImportSettings;
  /** PEM: certificate authorities that mail servers may use besides the system's. */
  mailCertificates?: string;
  resendUrl?: string;
  attemptLimits?: AttemptLimits;
  changeLimits?: ChangeLimits;
  /** Records in memory let nobody in once the broker has not confirmed them for this long; 10 s by default. */
  staleAfterMs?: number;
}

export interface Control
  extends ItemReads,
    Pick<Mail, 'sendMail' | 'outbox' | 'instanceSender' | 'chooseSender'> {
  customers: CustomerStore;
  organizations: ControlBuckets['organizations'];
  /** Organizations in memory: members' roles, organization keys. */
  directory: OrganizationDirectory;
  placeOf: PlaceOf;
  passwords: Passwords;
  readDashboard: ReadDashboard;
  /** For whoever takes the turns of alerts and reports. */
  turnRecords: Pick<ControlBuckets, 'projectItems' | 'alertStates' | 'reportStates'>;
  /** POST to a report's link. */
  oneClickRoute: NodeHttpRoute;
  /** Shares of dashboards in memory. */
  shares: ShareDirectory;
  box: SecretBox;
  /** For OpenDemo, into the demo's project; undefined where others reach the service. */
  issueOpening(projectId: string): Promise<Opening | undefined>;
  organizationMail: OrganizationMail;
  /** For createAuthenticate. */
  customerAccess: CustomerAccess;
  /** Must follow the authentication interceptor in this order. A service's own Connect options would replace them. */
  interceptors: Interceptor[];
  register(router: ConnectRouter): void;
  /** Sends the queued mails, then stops following the records. */
  close(): Promise<void>;
}

/** The time for sending queued mails when the process ends. */
const mailGraceMs = 5_000;

export async function startControl(options: ControlOptions): Promise<Control> {
  const { connection, projects, dataDir, clock, log } = options;
  const box = openSecretBox(dataDir);
  const tokenLifetimeMs = signedTokenLifetimeMs;
  const signingKeys = openSigningKeys(dataDir, { clock, tokenLifetimeMs });
  const accessTokens = createAccessTokens(signingKeys, clock);
  const buckets = await openControlBuckets(connection, log, options.roomOf);
  const { organizations } = buckets;
  refuseLostCustomers(dataDir, buckets.customers);
  const directory = createOrganizationDirectory(organizations);
  const customers = createCustomerStore({ ...buckets, clock });
  const access = { tokens: accessTokens, people: customers, organizations: directory };
  const placeOf = createPlaceOf(access);
  const customerAccess = createCustomerAccess({
    ...access,
    projects: { project: (id) => projects.get(id)?.record },
    ...(options.staleAfterMs !== undefined && { staleAfterMs: options.staleAfterMs }),
  });
  const keptOut = othersKeptOut(options);
  const mail = startMail({ ...options, box, othersKeptOut: keptOut });
  const byOrganization = createProjectsByOrganization(projects);
  const records = { customers, organizations, directory, projects, byOrganization };
  const auth = createAuth(options, { ...records, buckets, accessTokens, box });
  const dashboards = openDashboards(buckets, options);
  const items = openItems(buckets, byOrganization);
  const deps: ControlDeps = {
    ...records,
    ...auth,
    ...dashboards,
    ...items,
    ...{ deletions: options.deletions, dashboardLists: buckets.dashboardLists },
    importFiles: new ImportFiles(dataDir),
    importSettings: options.imports ?? { refusal: undefined, reserveBytes: 0 },
    openings: buckets.openings,
    placeOf,
    accessTokens,
    ...mail,
    tellOfSecondFactor: createTellOfSecondFactor({ ...mail, publicUrl: options.publicUrl }),
    box,
    listedRows: createListedRows(clock),
    publicUrl: options.publicUrl,
    addressOf: (context) => options.addressOf(callerRequestOf(context)),
    clock,
  };
  return {
    customers,
    organizations,
    directory,
    placeOf,
    passwords: auth.passwords,
    readDashboard: dashboards.readDashboard,
    turnRecords: buckets,
    oneClickRoute: createOneClickRoute({ ...options, ...deps, ...auth }, options.addressOf),
    ...itemReads(items),
    shares: createShareDirectory(buckets.dashboardLists),
    box,
    issueOpening: async (id) => (keptOut ? issueOpening(buckets.openings, id) : undefined),
    ...mail,
    organizationMail: createOrganizationMail({ directory, customers, ...mail }),
    customerAccess,
    interceptors: interceptorsOf(options, auth.attempts, placeOf),
    register: (router) => registerControl(router, deps),
    async close() {
      await mail.outbox.close(mailGraceMs);
      await auth.passwords.close();
      await buckets.close();
    },
  };
}

/** In the order in which they are asked. */
function interceptorsOf(
  { addressOf, changeLimits, clock, log }: ControlOptions,
  attempts: Parameters<typeof createOpenCallLimit>[0],
  placeOf: PlaceOf,
): Interceptor[] {
  return [
    createOpenCallLimit(attempts, addressOf),
    createOrganizationInterceptor(placeOf),
    boundRequests,
    createChangeLimit(clock, changeLimits ?? defaultChangeLimits),
    createFailureInterceptor(log),
  ];
}

interface AuthRecords {
  customers: CustomerStore;
  organizations: ControlBuckets['organizations'];
  directory: OrganizationDirectory;
  projects: WatchedBucket<ProjectRecord>;
  byOrganization: ProjectsByOrganization;
  buckets: ControlBuckets;
  accessTokens: AccessTokens;
  box: SecretBox;
}

/** Everything that signing up, in and out needs. */
function createAuth(options: ControlOptions, records: AuthRecords) {
  const { settings, attemptLimits, clock } = options;
  const { customers, organizations, directory, projects, buckets, accessTokens, box } = records;
  const attempts = createAttempts(clock, attemptLimits ?? defaultAttemptLimits);
  const challenges = createChallenges(box, clock);
  const sessions = createSessions(buckets.sessions, createSessionPlaces(customers, clock), clock);
  const endUnprovenGrants = createEndUnprovenGrants({ ...records, clock });
  const proveCustomer = createProveCustomer({ customers, endUnprovenGrants, clock });
  const onlyThisMachine = (context: HandlerContext) =>
    options.onlyThisMachine(callerRequestOf(context));
  const mayJoin = createMayJoin({ settings, onlyThisMachine, directory, clock });
  const makeProject = (project: Parameters<typeof ensureProjectWithKey>[1]) =>
    ensureProjectWithKey(projects, project, clock);
  const beginSession = createBeginSession({
    sessions,
    accessTokens,
    ensureFirstProject: (customer) =>
      ensureFirstProject({ customers, organizations, makeProject, clock }, customer),
    clock,
  });
  return {
    sessions,
    proveCustomer,
    onlyThisMachine,
    mayJoin,
    passwords: createPasswords(),
    magicLinks: createMagicLinks(buckets.magicLinks, clock),
    attempts,
    challenges,
    secondFactors: createSecondFactors({ customers, attempts, box, clock }),
    provenAddress: createProvenAddress({ customers, proveCustomer, mayJoin }),
    beginSession,
    signInCustomer: createSignInCustomer({ challenges, beginSession, clock }),
    providers: new Map(
      settings.oauthProviders.map((provider) => [provider.name, createOAuthProvider(provider)]),
    ),
  };
}

/** The most local request there is: where it does not pass, the settings let others in. */
function othersKeptOut({ onlyThisMachine }: ControlOptions): boolean {
  return onlyThisMachine({ headers: { host: 'localhost' }, peerAddress: '127.0.0.1' });
}
