// Two projects with the same profiles and events; in one of them half of the profiles are merged into the others. The
// engine itself makes the rows, both projects in the same blocks, so that neither lies in more parts.

import { makeApiKey, makeProject } from '../../../control/projects/project-record.ts';
import { newId } from '../../../platform/access/ids.ts';
import { readProject } from '../../../platform/access/projects.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { check } from '../../bench.ts';
import { runStatement } from './engine-statement.ts';
import { whereFromSql } from './stored-visits.ts';

export interface People {
  projectId: string;
  privateKey: string;
  /** Ids in hex of profiles that are merged in the project with merges; at least one. */
  ids: string[];
}

interface PeopleOptions {
  events: number;
  /** Named and anonymous together: the last `merges` of them were never named. */
  profiles: number;
  merges: number;
  /**
   * `scattered` unless given: a profile's events lie one by one over all days, and so do those of each of its five
   * sessions. `visits`: they come as visits of five events within five minutes.
   */
  coming?: 'scattered' | 'visits';
}

/** Begins the distinct id of a profile, before its number from 0. */
export const distinctIdPrefix = 'person-';

const eventsPerInsert = 100_000;
/** The number of ids that are read, one after the other. */
const maxIds = 300;

/** The project without merges and the one with them. The service may need a second to know their keys. */
export async function storePeople(
  stack: Stack,
  options: PeopleOptions,
): Promise<{ without: People; merged: People }> {
  const [without, merged] = await makeProjects(stack);
  const projects = `['${without.projectId}', '${merged.projectId}']`;
  for (let from = 0; from < options.events; from += eventsPerInsert) {
    const count = Math.min(eventsPerInsert, options.events - from);
    await runStatement(stack, eventsSql(projects, options, from, count));
  }
  const owners = options.profiles - options.merges;
  await runStatement(stack, profilesSql(projects, owners));
  await runStatement(stack, mergesSql(merged.projectId, owners, options.merges));
  for (const people of [without, merged]) people.ids = await idsOf(stack, people, options);
  return { without, merged };
}

async function makeProjects(stack: Stack): Promise<[People, People]> {
  const connection = await connectBroker(stack.natsUrl, createLog('silent'));
  try {
    const bucket = await openBucket(connection, buckets.projects, readProject);
    const make = async (displayName: string): Promise<People> => {
      const { raw, record } = makeApiKey({ kind: 'private' }, systemClock);
      const { organizationId } = stack;
      const fields = { id: newId(), organizationId, displayName, keys: [record] };
      const project = makeProject(fields, systemClock);
      await bucket.create(project.id, project);
      return { projectId: project.id, privateKey: raw, ids: [] };
    };
    return [await make('without merges'), await make('with merges')];
  } finally {
    await connection.close();
  }
}

function eventsSql(
  projects: string,
  { profiles, coming = 'scattered' }: PeopleOptions,
  from: number,
  count: number,
): string {
  // An event a second, backwards from now. Of visits sixty are under way at once.
  const visit = 'intDiv(number, 300) * 60 + number % 60';
  const { kind, person, session, secondsAgo } = {
    scattered: {
      kind: 'number % 2',
      person: `number % ${profiles}`,
      session: `intDiv(number, ${profiles}) % 5`,
      secondsAgo: 'number % 5000000',
    },
    visits: {
      kind: 'intDiv(number, 60) % 2',
      person: `(${visit}) % ${profiles}`,
      session: visit,
      secondsAgo: 'number',
    },
  }[coming];
  return `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, browser, agent, place)
    SELECT arrayJoin(${projects}), generateUUIDv4(), if(${kind} = 0, 'page_view', 'click'),
      ${distinctSql(person)} AS distinct,
      reinterpretAsUUID(sipHash128(distinct, ${session})),
      now64(3) - ${secondsAgo}, now64(3) - ${secondsAgo},
      ${whereFromSql}
    FROM numbers(${from}, ${count})`;
}

function profilesSql(projects: string, owners: number): string {
  return `INSERT INTO profiles (project_id, edge, distinct_id, named, traits, create_time, update_time, version)
    SELECT arrayJoin(${projects}), false, ${distinctSql('number')}, true,
      map('name', concat('"Name ', toString(number), '"'), 'email', concat('"', toString(number), '@example.com"'),
        'plan', ['"free"', '"pro"', '"team"'][1 + number % 3], 'age', toString(number % 80),
        'company', concat('"C', toString(number % 5000), '"'), 'seats', toString(number % 100)),
      now64(3) - number % 86400, now64(3), 1
    FROM numbers(${owners})`;
}

function mergesSql(projectId: string, owners: number, merges: number): string {
  return `INSERT INTO profiles (project_id, edge, distinct_id, owner, root, merge_time, merge_source, version)
    SELECT '${projectId}', true, ${distinctSql(`${owners} + number`)}, ${distinctSql(`number % ${owners}`)} AS owner, owner,
      now64(3), 'identify', 1
    FROM numbers(${merges})`;
}

function distinctSql(number: string): string {
  return `concat('${distinctIdPrefix}', toString(${number}))`;
}

async function idsOf(
  stack: Stack,
  { projectId }: People,
  { profiles, merges }: PeopleOptions,
): Promise<string[]> {
  const distinct = distinctSql(`${profiles - merges} + (number * 7919) % ${merges}`);
  const count = Math.min(maxIds, merges);
  const text = await runStatement(
    stack,
    `SELECT lower(hex(millraceProfileHash('${projectId}', ${distinct}))) FROM numbers(${count}) FORMAT TabSeparated`,
  );
  const ids = text.trim().split('\n');
  check(new Set(ids).size === count, `${count} ids`);
  return ids;
}
