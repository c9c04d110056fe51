// Two customers of one instance: one has many projects in several organizations, the other one project. The engine
// itself makes the rows, of all projects in the same blocks.

import { newOrganization } from '../../../control/orgs/org-record.ts';
import { makeApiKey, makeProject } from '../../../control/projects/project-record.ts';
import { newId } from '../../../platform/access/ids.ts';
import { readOrganization } from '../../../platform/access/organizations.ts';
import { readProject } from '../../../platform/access/projects.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { runStatement } from './engine-statement.ts';
import { whereFromSql } from './stored-visits.ts';

export interface OwnedProject {
  projectId: string;
  privateKey: string;
}

interface OwnersOptions {
  /** Of the customer with many, ten of them in each organization. */
  projects: number;
  /** Of each project, in the last 30 days. */
  events: number;
}

/** The property of which each event has a value of its own. */
export const uniqueProperty = 'request';

const projectsOfOrganization = 10;
const rowsPerInsert = 500_000;

/** The service may need a second to know their keys. */
export async function storeOwners(
  stack: Stack,
  { projects, events }: OwnersOptions,
): Promise<{ many: OwnedProject[]; single: OwnedProject }> {
  const connection = await connectBroker(stack.natsUrl, createLog('silent'));
  try {
    const many: OwnedProject[] = [];
    const creatorId = newId();
    while (many.length < projects) {
      const count = Math.min(projectsOfOrganization, projects - many.length);
      many.push(...(await makeOrganization(connection, creatorId, count)));
    }
    const [single] = await makeOrganization(connection, newId(), 1);
    if (single === undefined) throw new RangeError('an organization without a project');
    const ids = [...many, single].map(({ projectId }) => `'${projectId}'`);
    const step = Math.ceil(rowsPerInsert / ids.length);
    for (let from = 0; from < events; from += step) {
      const count = Math.min(step, events - from);
      await runStatement(stack, eventsSql(`[${ids}]`, from, count));
    }
    return { many, single };
  } finally {
    await connection.close();
  }
}

async function makeOrganization(
  connection: NatsConnection,
  creatorId: string,
  projects: number,
): Promise<OwnedProject[]> {
  const now = new Date(systemClock.nowMs()).toISOString();
  const id = newId();
  const record = newOrganization({ id, displayName: 'Customer', adminId: creatorId, now });
  const organizations = await openBucket(connection, buckets.organizations, readOrganization);
  await organizations.create(id, record);
  const bucket = await openBucket(connection, buckets.projects, readProject);
  const made = Array.from({ length: projects }, async () => {
    const key = makeApiKey({ kind: 'private' }, systemClock);
    const fields = { id: newId(), organizationId: id, displayName: 'Project', keys: [key.record] };
    await bucket.create(fields.id, makeProject(fields, systemClock));
    return { projectId: fields.id, privateKey: key.raw };
  });
  return Promise.all(made);
}

/** Fifty events of each visitor, whose kinds follow one another. */
function eventsSql(projects: string, from: number, count: number): string {
  return `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, browser, agent,
      place, string_properties)
    SELECT arrayJoin(${projects}), generateUUIDv4(), ['page_view', 'click', 'signup', 'purchase'][1 + number % 4],
      concat('visitor-', toString(intDiv(number, 50))) AS distinct, reinterpretAsUUID(sipHash128(distinct, intDiv(number, 25))),
      now64(3) - toIntervalMillisecond(cityHash64(intDiv(number, 50)) % 2500000000 - number % 50 * 60000), now64(3),
      ${whereFromSql}, map('${uniqueProperty}', toString(number))
    FROM numbers(${from}, ${count})`;
}
