// The cost of accounts: the check of a credential that was seen before, the news of a revocation in another process,
// and many organizations and keys in memory.

import { createHash } from 'node:crypto';
import { createAccessTokens, signedTokenLifetimeMs } from '../../../control/auth/access-token.ts';
import { openSigningKeys } from '../../../control/auth/signing-keys.ts';
import { openControlBuckets } from '../../../control/buckets.ts';
import {
  createApiKey,
  makeApiKey,
  makeProject,
  revokeApiKey,
} from '../../../control/projects/project-record.ts';
import { createAuthenticate } from '../../../platform/access/authenticate.ts';
import { createCustomerAccess } from '../../../platform/access/customer-access.ts';
import {
  createOrganizationDirectory,
  type OrganizationRecord,
} from '../../../platform/access/organizations.ts';
import {
  type KeyLookup,
  ProjectDirectory,
  readProject,
} from '../../../platform/access/projects.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { watchBucket } from '../../../platform/broker/watched-bucket.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { startBroker } from '../../../test/harness/servers/broker.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../../test/harness/services/accounts.ts';
import { type Bench, check } from '../../bench.ts';

interface Parameters {
  organizations: number;
  checks: number;
  revocations: number;
  loads: number;
}

const smoke: Parameters = { organizations: 50, checks: 100, revocations: 1, loads: 1 };
const real: Parameters = { organizations: 10_000, checks: 50_000, revocations: 20, loads: 3 };

const keysPerProject = 5;
const concurrentWrites = 50;
const method = 'sdk.events.v1.EventsService/BatchCreate';
const log = createLog('silent');

export const accountsBench: Bench = {
  name: 'accounts',
  question: 'What does a check of a key or token cost, and what do 10,000 organizations?',
  async run(mode) {
    const parameters = mode === 'smoke' ? smoke : real;
    const broker = await startBroker();
    const connection = await connectBroker(broker.url, log);
    await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
    const accounts = await startAccounts({ brokerUrl: broker.url });
    try {
      const credentials = await checkCredentials(accounts, connection, parameters.checks);
      const revokedMs = await revoke(accounts, connection, parameters.revocations);
      await fill(connection, parameters.organizations);
      const loaded = await load(connection, parameters);
      const keys = parameters.organizations * keysPerProject;
      const what = `${parameters.organizations.toLocaleString('en-US')} organizations, ${keys.toLocaleString('en-US')} keys`;
      return {
        tables: [
          {
            title: 'Accounts in the steady state, and at the start of a process',
            columns: ['', 'asked', 'reached'],
            rows: [
              ['a key, us of CPU', '20', credentials.keyMicros.toFixed(1)],
              ['a token, us of CPU', '20', credentials.tokenMicros.toFixed(1)],
              ['a revocation in another process, ms, slowest', '1000', revokedMs.toFixed(0)],
              [`${what}: ms to load, fastest`, '2000', loaded.ms.toFixed(0)],
              [`${what}: MiB`, '200', loaded.mebibytes.toFixed(0)],
            ],
          },
        ],
        resultHash: createHash('sha256').update('accounts').digest('hex'),
      };
    } finally {
      await accounts.close();
      await connection.close();
      await broker.stop();
    }
  },
};

/** CPU microseconds of one call, once its code is warm. */
function cpuMicros(call: () => unknown, calls: number): number {
  for (let index = 0; index < calls / 10; index++) call();
  const before = process.cpuUsage();
  for (let index = 0; index < calls; index++) call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

async function checkCredentials(
  accounts: AccountsProcess,
  connection: NatsConnection,
  checks: number,
): Promise<{ keyMicros: number; tokenMicros: number }> {
  const session = await newCustomer(accounts);
  const { projectId } = session;
  const { apiKeys } = await accounts.as(bearer(session, projectId)).projects.listApiKeys({});
  const opened = await openControlBuckets(connection, log);
  const bucket = await openBucket(connection, buckets.projects, readProject);
  const projects = await watchBucket(connection, bucket, { log });
  const signingKeys = openSigningKeys(accounts.dataDir, {
    clock: systemClock,
    tokenLifetimeMs: signedTokenLifetimeMs,
  });
  const access = createCustomerAccess({
    tokens: createAccessTokens(signingKeys, systemClock),
    people: {
      get: (id) => opened.customers.get(id)?.record,
      unconfirmedMs: () => opened.customers.unconfirmedMs(),
    },
    organizations: createOrganizationDirectory(opened.organizations),
    projects: { project: (id) => projects.get(id)?.record },
  });
  const authenticate = createAuthenticate(new ProjectDirectory(projects), access);
  const key = { apiKey: apiKeys[0]?.key ?? '' };
  const token = { authorization: `Bearer ${session.accessToken}`, projectIdHeader: projectId };
  for (const credentials of [key, token]) {
    check((await authenticate(method, credentials)).kind === 'ok', 'the credential opens');
    check(!(authenticate(method, credentials) instanceof Promise), 'it opens from memory');
  }
  const micros = {
    keyMicros: cpuMicros(() => authenticate(method, key), checks),
    tokenMicros: cpuMicros(() => authenticate(method, token), checks),
  };
  await projects.close();
  await opened.close();
  return micros;
}

/** Milliseconds from a revoking call until another process refuses the key; the slowest of `count`. */
async function revoke(
  accounts: AccountsProcess,
  connection: NatsConnection,
  count: number,
): Promise<number> {
  const bucket = await openBucket(connection, buckets.projects, readProject);
  const there = await watchBucket(connection, bucket, { log });
  const directory = new ProjectDirectory(there);
  const { projectId } = await newCustomer(accounts);
  let slowestMs = 0;
  for (let index = 0; index < count; index++) {
    const made = await createApiKey(accounts.projects, projectId, { kind: 'private' }, systemClock);
    if (made.kind !== 'created') throw new Error(made.kind);
    const { raw, record } = made.key;
    const until = (kind: KeyLookup['kind']) =>
      new Promise<void>((resolve) => {
        const look = () => directory.findKey(raw).kind === kind && resolve();
        there.onChange(look);
        look();
      });
    await until('found');
    const startMs = performance.now();
    const revoked = revokeApiKey(accounts.projects, projectId, record.id, systemClock);
    await until('unknown');
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
    check((await revoked).kind === 'revoked', 'the key is revoked');
  }
  await there.close();
  return slowestMs;
}

async function load(
  connection: NatsConnection,
  { organizations, loads }: Parameters,
): Promise<{ ms: number; mebibytes: number }> {
  const before = heldBytes();
  const last = organizations - 1;
  let fastestMs = Number.POSITIVE_INFINITY;
  let mostBytes = 0;
  for (let run = 0; run < loads; run++) {
    const startMs = performance.now();
    const bucket = await openBucket(connection, buckets.projects, readProject);
    const [opened, projects] = await Promise.all([
      openControlBuckets(connection, log),
      watchBucket(connection, bucket, { log }),
    ]);
    const directory = createOrganizationDirectory(opened.organizations);
    const keys = new ProjectDirectory(projects);
    fastestMs = Math.min(fastestMs, performance.now() - startMs);
    mostBytes = Math.max(mostBytes, heldBytes() - before);
    const [organization] = directory.organizationsOf(`customer ${last}`);
    check(organization === `organization ${last}`, 'every organization is there');
    check(keys.project(`project-${last}`)?.keys.length === keysPerProject, 'every key is there');
    await Promise.all([opened.close(), projects.close()]);
  }
  return { ms: fastestMs, mebibytes: mostBytes / 1_048_576 };
}

function heldBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function fill(connection: NatsConnection, organizations: number): Promise<void> {
  const js = connection.jetstream();
  const [orgs, projects] = await Promise.all(
    [buckets.organizations, buckets.projects].map((name) => js.views.kv(name, { bindOnly: true })),
  );
  const now = new Date(systemClock.nowMs()).toISOString();
  for (let start = 0; start < organizations; start += concurrentWrites) {
    const numbers = Array.from({ length: concurrentWrites }, (_, index) => start + index);
    await Promise.all(
      numbers.flatMap((number) => {
        const id = `organization ${number}`;
        const organization: OrganizationRecord = {
          schemaVersion: 1,
          id,
          displayName: `Organization ${number}`,
          createTime: now,
          updateTime: now,
          members: [{ customerId: `customer ${number}`, role: 'admin' }],
        };
        const keys = Array.from(
          { length: keysPerProject },
          () => makeApiKey({ kind: 'private', displayName: 'server' }, systemClock).record,
        );
        const options = { id: `project-${number}`, organizationId: id, displayName: 'Shop', keys };
        return [
          orgs?.put(`organization-${number}`, JSON.stringify(organization)),
          projects?.put(`project-${number}`, JSON.stringify(makeProject(options, systemClock))),
        ];
      }),
    );
  }
}
