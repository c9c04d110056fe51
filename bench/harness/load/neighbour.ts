// Two projects of one service: a small one, whose events are timed, and another one, made for the run.

import { makeApiKey, makeProject } from '../../../control/projects/project-record.ts';
import { newId } from '../../../platform/access/ids.ts';
import { readProject } from '../../../platform/access/projects.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check, type Session } from '../../bench.ts';
import { runLoadProcess } from '../processes/processes.ts';
import { queryNumber, visibleAfterMs, watchRows } from './stored-rows.ts';

export interface OtherProject {
  projectId: string;
  privateKey: string;
}

const seed = 37;
/** Of the small project: as a small site has, one event each. */
const connections = 4;
export const smallRequestsPerSecond = 50;
const pollMs = 20;
const drainTimeoutMs = 300_000;

export async function makeOtherProject(stack: Stack): Promise<OtherProject> {
  const connection = await connectBroker(stack.natsUrl, createLog('silent'));
  try {
    const projects = await openBucket(connection, buckets.projects, readProject);
    const { raw, record } = makeApiKey({ kind: 'private' }, systemClock);
    const fields = { id: newId(), organizationId: newId(), displayName: 'other', keys: [record] };
    const project = makeProject(fields, systemClock);
    await projects.create(project.id, project);
    return { projectId: project.id, privateKey: raw };
  } finally {
    await connection.close();
  }
}

export function rowsOf(projectId: string): string {
  return `SELECT count() FROM events WHERE project_id = '${projectId}'`;
}

/**
 * The stack's own project sends events for `durationMs`: the p99 of the time from the moment a request was due until
 * its event is seen, in ms. Nothing of it may be refused. `own` counts these events and none of others.
 */
export async function queryableP99(
  stack: Stack,
  session: Session,
  durationMs: number,
  own = rowsOf(stack.projectId),
): Promise<number> {
  const before = await queryNumber(stack, own);
  const watch = watchRows(stack, pollMs, own);
  const load = await runLoadProcess({
    ...{ baseUrl: stack.baseUrl, key: stack.privateKey, size: 'medium', batch: 1, seed },
    ...{ bodiesPerConnection: 16, connections, requestsPerSecond: smallRequestsPerSecond },
    ...{ load: session.nextLoad(), warmUpMs: 0, durationMs, traced: true },
  });
  check(Object.keys(load.refused).length === 0, 'nobody else is refused');
  await watch.until(before + load.acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  const all = visibleAfterMs(load.trace, before, watch);
  return all[Math.ceil(all.length * 0.99) - 1] ?? 0;
}
