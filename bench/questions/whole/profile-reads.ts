// Reading profiles among many: one profile by either of its ids, and a page of a filtered list; in one project, and in
// another with the same events where half of the profiles are merged into the others. The projects take turns of a few
// reads each, so that a neighbour's load hits both.

import { createHash } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Table } from '../../bench.ts';
import { untilMerged } from '../../harness/engine/merges.ts';
import { distinctIdPrefix, type People, storePeople } from '../../harness/engine/stored-people.ts';
import { cpuOfParts } from '../../harness/usage.ts';

interface Parameters {
  events: number;
  profiles: number;
  merges: number;
  turns: number;
  /** Reads of each project in a turn: `gets` of one profile, `lists` of a page. */
  gets: number;
  lists: number;
}

const smoke: Parameters = {
  ...{ events: 2_000, profiles: 200, merges: 100, turns: 1, gets: 5, lists: 2 },
};
const real: Parameters = {
  ...{ events: 5_000_000, profiles: 200_000, merges: 100_000, turns: 10, gets: 30, lists: 4 },
};

const plan = { property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' };
const age = { property: 'age', operator: 'FILTER_OPERATOR_GTE', value: '30' };
const browser = {
  property: '$browser',
  operator: 'FILTER_OPERATOR_EQUALS',
  value: 'Chrome',
  source: 'PROPERTY_SOURCE_AUTO',
};

const agent = new http.Agent({ keepAlive: true });

type Ask = (people: People, index: number) => Promise<void>;

export const profileReadsBench: Bench = {
  name: 'profile-reads',
  question:
    'What does reading a profile, or a page of them, cost among many, and what do merges add?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const { events, profiles, merges, turns, gets, lists } = parameters;
    const stack = await session.stack();
    const { without, merged } = await storePeople(stack, parameters);
    await untilMerged(stack);
    for (const people of [without, merged]) await untilKnown(stack, people);
    const rows: string[][] = [];
    for (const [name, reads, ask] of readsOf(stack, gets, lists, profiles - merges)) {
      rows.push(rowOf(name, await takeTurns(stack, [without, merged], { turns, reads, ask })));
    }
    const table: Table = {
      title: `${events} events, ${profiles} profiles; and as many with ${merges} of them merged, in turns`,
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

/** The kinds of reads: name, number in a turn, and the call. */
function readsOf(
  stack: Stack,
  gets: number,
  lists: number,
  owners: number,
): [name: string, reads: number, ask: Ask][] {
  const idOf = ({ ids }: People, index: number): string => ids[index % ids.length] ?? '';
  const page = (...filters: object[]): Ask => {
    return (people) => firstPage(stack, people, { filterGroups: [{ filters }] });
  };
  return [
    [
      'GetByExternalId',
      gets,
      (people, index) => {
        const externalId = `${distinctIdPrefix}${(index * 7_919) % owners}`;
        return get(stack, people, 'GetByExternalId', { externalId });
      },
    ],
    [
      'Get by an id, anonymous or merged',
      gets,
      (people, index) => get(stack, people, 'Get', { id: idOf(people, index) }),
    ],
    ['a page of List', lists, page()],
    ['a page with two filters on traits', lists, page(plan, age)],
    ['a page with a trait and a browser', lists, page(age, browser)],
    [
      "a profile's last 100 events",
      lists,
      (people, index) => feed(stack, people, { profileId: idOf(people, index) }),
    ],
    ["the project's last 100 events", lists, (people) => feed(stack, people, {})],
  ];
}

interface Run {
  people: People;
  durationsMs: number[];
  /** CPU milliseconds of service and engine, for all reads. */
  cpuMs: number;
}

/** The runs of the projects, in the order given; the project that begins changes with each turn. */
async function takeTurns(
  stack: Stack,
  projects: readonly People[],
  { turns, reads, ask }: { turns: number; reads: number; ask: Ask },
): Promise<Run[]> {
  const runs = projects.map((people): Run => ({ people, durationsMs: [], cpuMs: 0 }));
  // The first tenth of the calls compiles code; a running service has long done that.
  for (const { people } of runs) {
    for (let index = 0; index < Math.ceil((turns * reads) / 10); index++) await ask(people, index);
  }
  for (let turn = 0; turn < turns; turn++) {
    for (const run of turn % 2 === 0 ? runs : runs.toReversed()) {
      const before = cpuOfParts(stack);
      for (let index = turn * reads; index < (turn + 1) * reads; index++) {
        const startMs = performance.now();
        await ask(run.people, index);
        run.durationsMs.push(performance.now() - startMs);
      }
      const after = cpuOfParts(stack);
      run.cpuMs += after.service - before.service + after.engine - before.engine;
    }
  }
  return runs;
}

function rowOf(name: string, runs: readonly Run[]): string[] {
  const cells = runs.flatMap(({ durationsMs, cpuMs }) => {
    const sorted = [...durationsMs].sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
    return [at(0.5), at(0.99), cpuMs / sorted.length].map((ms) => ms.toFixed(1));
  });
  const [withoutMs = 0, mergedMs = 0] = runs.map(({ cpuMs }) => cpuMs);
  return [name, ...cells, (mergedMs / withoutMs).toFixed(2)];
}

/** Throws where the service does not know the project's key after ten seconds. */
async function untilKnown(stack: Stack, people: People): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { status } = await post(stack, people, 'shared.activity.v1.ActivityService/List', {});
    if (status === 200) return;
    check(attempt < 100, `the key of a project that was made is known, not ${status}`);
    await delay(100);
  }
}

async function get(stack: Stack, people: People, method: string, request: object): Promise<void> {
  const path = `shared.profiles.v1.ProfilesService/${method}`;
  const { status, text } = await post(stack, people, path, request);
  check(status === 200, `${method} answered ${status}: ${text}`);
  check(text.includes('"totalEvents"'), `a profile with events: ${text}`);
}

async function feed(stack: Stack, people: People, request: object): Promise<void> {
  const path = 'shared.activity.v1.ActivityService/List';
  const { status, text } = await post(stack, people, path, request);
  check(status === 200 && text.includes('"eventId"'), `a page of events, not ${status}: ${text}`);
}

async function post(
  stack: Stack,
  people: People,
  path: string,
  request: object,
): Promise<{ status: number; text: string }> {
  const body = Buffer.from(JSON.stringify(request));
  const response = await send(stack, people, path, 'application/json', body);
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode ?? 0, text };
}

/** Returns the stream's first frame without waiting for the rest. */
async function firstPage(stack: Stack, people: People, request: object): Promise<void> {
  const message = Buffer.from(JSON.stringify(request));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt32BE(message.length, 1);
  const body = Buffer.concat([envelope, message]);
  const path = 'shared.profiles.v1.ProfilesService/List';
  const response = await send(stack, people, path, 'application/connect+json', body);
  let bytes = Buffer.alloc(0);
  for await (const chunk of response) {
    bytes = Buffer.concat([bytes, chunk]);
    if (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(1)) break;
  }
  check(bytes.includes('"profiles":[{'), 'a page with profiles');
}

// With fetch a request costs the client 1 ms of CPU more on the same cores, and its collections of garbage hold up one
// read in a hundred.
function send(
  { baseUrl }: Stack,
  { privateKey }: People,
  path: string,
  type: string,
  body: Buffer,
): Promise<IncomingMessage> {
  const headers = { 'content-type': type, 'x-api-key': privateKey, 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const request = http.request(`${baseUrl}/${path}`, { method: 'POST', headers, agent });
    request.on('response', resolve).on('error', reject);
    request.end(body);
  });
}
