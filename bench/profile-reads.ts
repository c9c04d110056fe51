// Reading profiles among many: one by either of its ids, and a page of a filtered list; then again once half of the
// profiles are merged into the others. The rows are put into the tables by the engine itself: what is measured is
// reading.

import { createHash } from 'node:crypto';
import type { Stack } from '../test/stack.ts';
import { type Bench, check, type Table } from './bench.ts';
import { untilMerged } from './merges.ts';
import { cpuOfParts } from './usage.ts';

interface Parameters {
  events: number;
  profiles: number;
  merges: number;
  gets: number;
  lists: number;
}

const smoke: Parameters = { events: 2_000, profiles: 200, merges: 100, gets: 5, lists: 2 };
const real: Parameters = {
  events: 5_000_000,
  profiles: 200_000,
  merges: 100_000,
  gets: 300,
  lists: 30,
};
const rowsPerInsert = 100_000;

const plan = { property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' };
const age = { property: 'age', operator: 'FILTER_OPERATOR_GTE', value: '30' };
const browser = {
  property: '$browser',
  operator: 'FILTER_OPERATOR_EQUALS',
  value: 'Chrome',
  source: 'PROPERTY_SOURCE_AUTO',
};
const pages: [name: string, filters: object[]][] = [
  ['a page of List', []],
  ['a page with two filters on traits', [plan, age]],
  ['a page with a trait and a browser', [age, browser]],
];

export const profileReadsBench: Bench = {
  name: 'profile-reads',
  question:
    'What does reading a profile, or a page of them, cost among many, and what do merges add?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const prefix = `reads-${session.nextLoad()}-`;
    await fill(stack, prefix, parameters);
    await untilMerged(stack);
    const without = await measure(stack, prefix, parameters);
    await merge(stack, prefix, parameters);
    await untilMerged(stack);
    const after = await measure(stack, prefix, parameters);
    check(without.events + after.events > 0, 'profiles with events');
    const rows = without.runs.map((run, index) => rowOf(run, after.runs[index]));
    const title = `${parameters.events} events, ${parameters.profiles} profiles; then ${parameters.merges} of them merged`;
    const table: Table = {
      title,
      columns: [
        'read',
        'p50 ms',
        'p99 ms',
        'cpu ms',
        'merged p50',
        'merged p99',
        'merged cpu',
        'cpu ratio',
      ],
      rows,
    };
    const resultHash = createHash('sha256').update('profiles are found').digest('hex');
    return { tables: [table], resultHash };
  },
};

interface Run {
  name: string;
  p50Ms: number;
  p99Ms: number;
  /** Of service and engine, for one read. */
  cpuMs: number;
}

function rowOf(run: Run, merged: Run | undefined): string[] {
  const { p50Ms, p99Ms, cpuMs } = merged ?? run;
  const times = [run.p50Ms, run.p99Ms, run.cpuMs, p50Ms, p99Ms, cpuMs];
  return [run.name, ...times.map((ms) => ms.toFixed(1)), (cpuMs / run.cpuMs).toFixed(2)];
}

async function measure(
  stack: Stack,
  prefix: string,
  { profiles, merges, gets, lists }: Parameters,
): Promise<{ runs: Run[]; events: number }> {
  const owners = profiles - merges;
  let events = 0;
  const byExternalId = await timed(stack, 'GetByExternalId', gets, async (index) => {
    const externalId = `${prefix}${(index * 7_919) % owners}`;
    const { profile } = await ask(stack, 'GetByExternalId', { externalId });
    events += Number(profile.activity.totalEvents);
  });
  const ids = await idsOf(stack, prefix, { gets, owners, merges });
  const byId = await timed(stack, 'Get by an id that may be merged', gets, async (index) => {
    await ask(stack, 'Get', { id: ids[index] });
  });
  const runs = [byExternalId, byId];
  for (const [name, filters] of pages) {
    const request = { filterGroups: [{ filters }] };
    runs.push(await timed(stack, name, lists, () => firstPage(stack, request)));
  }
  runs.push(
    await timed(stack, "a profile's last 100 events", lists, (index) =>
      feed(stack, { profileId: ids[index] }),
    ),
    await timed(stack, "the project's last 100 events", lists, () => feed(stack, {})),
  );
  return { runs, events };
}

async function timed(
  stack: Stack,
  name: string,
  times: number,
  work: (index: number) => Promise<void>,
): Promise<Run> {
  // Code is compiled in the first tenth of the calls, which a service that runs has long had.
  for (let index = 0; index < Math.ceil(times / 10); index++) await work(index);
  const before = cpuOfParts(stack);
  const durationsMs: number[] = [];
  for (let index = 0; index < times; index++) {
    const startMs = performance.now();
    await work(index);
    durationsMs.push(performance.now() - startMs);
  }
  const after = cpuOfParts(stack);
  durationsMs.sort((a, b) => a - b);
  const at = (share: number): number => durationsMs[Math.floor(share * (times - 1))] ?? 0;
  const cpuMs = after.service - before.service + after.engine - before.engine;
  return { name, p50Ms: at(0.5), p99Ms: at(0.99), cpuMs: cpuMs / times };
}

interface ReadProfile {
  profile: { activity: { totalEvents: string } };
}

async function ask(stack: Stack, method: string, request: object): Promise<ReadProfile> {
  return JSON.parse(await post(stack, `shared.profiles.v1.ProfilesService/${method}`, request));
}

async function feed(stack: Stack, request: object): Promise<void> {
  const text = await post(stack, 'shared.activity.v1.ActivityService/List', request);
  check(text.includes('"eventId"'), 'a page of events');
}

async function post(stack: Stack, path: string, request: object): Promise<string> {
  const response = await fetch(`${stack.baseUrl}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.privateKey },
    body: JSON.stringify(request),
  });
  const text = await response.text();
  check(response.ok, `${path} answered ${response.status}: ${text}`);
  return text;
}

/** The stream's first frame; the rest is not waited for. */
async function firstPage(stack: Stack, request: object): Promise<void> {
  const message = Buffer.from(JSON.stringify(request));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt32BE(message.length, 1);
  const ended = new AbortController();
  const response = await fetch(`${stack.baseUrl}/shared.profiles.v1.ProfilesService/List`, {
    method: 'POST',
    headers: { 'content-type': 'application/connect+json', 'x-api-key': stack.privateKey },
    body: Buffer.concat([envelope, message]),
    signal: ended.signal,
  });
  const reader = response.body?.getReader();
  let bytes = Buffer.alloc(0);
  while (bytes.length < 5 || bytes.length < 5 + bytes.readUInt32BE(1)) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    if (done || value === undefined) break;
    bytes = Buffer.concat([bytes, value]);
  }
  ended.abort();
  check(bytes.includes('"profiles":[{'), 'a page with profiles');
}

async function fill(stack: Stack, prefix: string, parameters: Parameters): Promise<void> {
  const { events, profiles, merges } = parameters;
  for (let from = 0; from < events; from += rowsPerInsert) {
    const count = Math.min(rowsPerInsert, events - from);
    await command(
      stack,
      `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, browser, os, country)
       SELECT '${stack.projectId}', generateUUIDv4(), if(number % 2 = 0, 'page_view', 'click'),
         concat('${prefix}', toString(number % ${profiles})) AS distinct,
         reinterpretAsUUID(sipHash128(distinct, intDiv(number, ${profiles}) % 5)),
         now64(3) - number % 5000000, now64(3) - number % 5000000,
         ['Chrome', 'Firefox', 'Safari'][1 + number % 3], ['Windows', 'Linux'][1 + number % 2], ['DE', 'US'][1 + number % 2]
       FROM numbers(${from}, ${count})`,
    );
  }
  await command(
    stack,
    `INSERT INTO profiles (project_id, edge, distinct_id, named, traits, create_time, update_time, version)
     SELECT '${stack.projectId}', false, concat('${prefix}', toString(number)), true,
       map('name', concat('"Name ', toString(number), '"'), 'email', concat('"', toString(number), '@example.com"'),
         'plan', ['"free"', '"pro"', '"team"'][1 + number % 3], 'age', toString(number % 80),
         'company', concat('"C', toString(number % 5000), '"'), 'seats', toString(number % 100)),
       now64(3) - number % 86400, now64(3), 1
     FROM numbers(${profiles - merges})`,
  );
}

async function merge(
  stack: Stack,
  prefix: string,
  { profiles, merges }: Parameters,
): Promise<void> {
  const owners = profiles - merges;
  await command(
    stack,
    `INSERT INTO profiles (project_id, edge, distinct_id, owner, root, merge_time, merge_source, version)
     SELECT '${stack.projectId}', true, concat('${prefix}', toString(${owners} + number)),
       concat('${prefix}', toString(number % ${owners})) AS owner, owner, now64(3), 'identify', 1
     FROM numbers(${merges})`,
  );
}

/** Waits for the engine's own merges, whose CPU would be taken for that of reads. */
/** Ids in hex of profiles that `merge` merges. */
async function idsOf(
  stack: Stack,
  prefix: string,
  { gets, owners, merges }: { gets: number; owners: number; merges: number },
): Promise<string[]> {
  const text = await command(
    stack,
    `SELECT lower(hex(millraceProfileHash('${stack.projectId}',
       concat('${prefix}', toString(${owners} + (number * 7919) % ${merges})))))
     FROM numbers(${gets}) FORMAT TabSeparated`,
  );
  const ids = text.trim().split('\n');
  check(new Set(ids).size === Math.min(gets, merges), `${gets} ids`);
  return ids;
}

async function command(stack: Stack, sql: string): Promise<string> {
  const url = new URL(stack.clickhouseUrl);
  const response = await fetch(`${url.origin}/?database=${url.pathname.slice(1)}`, {
    method: 'POST',
    body: sql,
  });
  const text = await response.text();
  check(response.ok, `the engine answered ${response.status}: ${text}`);
  return text;
}
