// Ingest as the service composes it, on real HTTP, with nothing behind it: an accepted request is answered at once. Its
// CPU is the cost of a request before the broker.

import { BlockList } from 'node:net';
import { createIngestMetrics } from '../../../ingest/metrics.ts';
import { createIngest, type Queue } from '../../../ingest/start.ts';
import { createAuthenticate } from '../../../platform/access/authenticate.ts';
import { sha256 } from '../../../platform/access/ids.ts';
import { ProjectDirectory, type ProjectRecord } from '../../../platform/access/projects.ts';
import { dayMs, systemClock } from '../../../platform/clock.ts';
import { startHttp } from '../../../platform/http/http.ts';
import { maxBodyBytes } from '../../../platform/limits.ts';
import { createLog } from '../../../platform/log.ts';
import { createMetrics } from '../../../platform/metrics.ts';

/** Listens on a free port of the loopback for events under this key; returns the port. */
export async function startGateway(publicKey: string): Promise<number> {
  const metrics = createMetrics();
  const options = {
    salts: { of: () => ({ kind: 'unavailable' }) as const },
    shards: 1,
    collectPath: '/m',
    authenticate: createAuthenticate(directoryOf(publicKey)),
    caller: {
      ...{ trustedProxies: new BlockList(), proxyHops: 0 },
      ...{ botScoreHeader: 'cf-bot-score', verifiedBotHeader: 'cf-verified-bot' },
    },
    ...{ eventsPerSecond: 1_000_000_000, eventsBurst: 1_000_000_000 },
    publicMaxAgeMs: 30 * dayMs,
    ...{ clock: systemClock, log: createLog('warn'), metrics },
  };
  const { nodeHttpRoute, plainRequestRoute } = createIngest(
    options,
    createIngestMetrics(metrics),
    openEnd,
  );
  const http = await startHttp({
    ...{
      host: '127.0.0.1',
      port: 0,
      nodeHttpRoutes: [nodeHttpRoute],
      plainRequestRoute,
      serviceAliases: new Map(),
    },
    connect: { routes: () => {} },
  });
  return http.port;
}

const atOnce = { publish: () => Promise.resolve('stored' as const) };
const openEnd: Queue = {
  ...{ events: atOnce, changes: atOnce, maxBodyBytes },
  crowding: { isSlowed: () => false },
  refusals: { tell: () => {}, tellExcluded: () => {} },
  onPreflight: () => {},
};

function directoryOf(publicKey: string): ProjectDirectory {
  const time = '2026-01-01T00:00:00Z';
  const project: ProjectRecord = {
    schemaVersion: 1,
    ...{ id: 'prj_bench', organizationId: 'org_bench', displayName: 'Bench', timezone: 'UTC' },
    ...{ createTime: time, updateTime: time },
    keys: [{ id: 'key_bench', kind: 'public', hash: sha256(publicKey), createTime: time }],
  };
  const held = { record: project, revision: 1 };
  return new ProjectDirectory({
    get: () => held,
    *records() {
      yield [project.id, project];
    },
    onChange: () => {},
    unconfirmedMs: () => 0,
    ask: () => Promise.resolve({ kind: 'absent' }),
  });
}
