// Identify, acknowledged and then readable, with the load generator on the same cores: first as many calls a second as
// the service takes, then, at a fixed rate, the time until each profile is there, by its rows and for a reader over
// HTTP.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Part, Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import { hasTraitsOfCallSql, identifyCall } from '../../harness/load/identify-calls.ts';
import type { LoadResult } from '../../harness/load/load.ts';
import { queryNumber, visibleAfterMs, watchRows } from '../../harness/load/stored-rows.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { cpuOfParts, parts } from '../../harness/usage.ts';

interface Parameters {
  connections: number;
  fullLoadMs: number;
  callsPerSecond: number;
  fixedLoadMs: number;
}

const smoke: Parameters = {
  ...{ connections: 4, fullLoadMs: 300, callsPerSecond: 200, fixedLoadMs: 300 },
};
const real: Parameters = {
  ...{ connections: 64, fullLoadMs: 10_000, callsPerSecond: 10_000, fixedLoadMs: 20_000 },
};

const pollMs = 100;
const drainTimeoutMs = 60_000;
const readEveryMs = 200;
/** Profiles that are read over HTTP after a load; the rows of all are checked too. */
const readAfterwards = 20;
// The reader's users have numbers from here on; no load reaches them.
const readerNumbers = 90_000_000;

export const identifyBench: Bench = {
  name: 'identify',
  question: 'How many Identify calls a second are acknowledged, and how soon are they readable?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const { connections, fullLoadMs, fixedLoadMs, callsPerSecond } = parameters;
    const stack = await session.stack();
    const full = await measure(stack, session, connections, fullLoadMs, 0);
    const fixed = await measure(stack, session, connections, fixedLoadMs, callsPerSecond);
    return {
      tables: [tableOf(full, fixed, connections)],
      resultHash: createHash('sha256').update('the profiles of all calls').digest('hex'),
    };
  },
};

interface Run {
  load: LoadResult;
  /** Milliseconds until each call's rows were there, ascending; counted from the moment the call was due. */
  storedMs: number[];
  /** The same for the reader's calls, whose profiles it asks for over HTTP. */
  readMs: number[];
  /** CPU microseconds a call. */
  cpuUs: Record<Part | 'load', number>;
}

async function measure(
  stack: Stack,
  session: Session,
  connections: number,
  durationMs: number,
  callsPerSecond: number,
): Promise<Run> {
  const { baseUrl, publicKey } = stack;
  const prefix = `bench-${session.nextLoad()}-`;
  // Each call is the first of its user, so its rows replace none.
  const rows = `SELECT count() FROM profiles WHERE project_id = '${stack.projectId}' AND NOT edge
    AND startsWith(distinct_id, '${prefix}') AND distinct_id < '${prefix}${readerNumbers}'`;
  const watch = watchRows(stack, pollMs, rows);
  const reader = startReader(stack, prefix);
  const before = cpuOfParts(stack);
  const load = await runLoadProcess({
    ...{ baseUrl, key: publicKey, size: 'small', batch: 1, seed: 0, connections },
    ...{ identifyPrefix: prefix, bodiesPerConnection: 1, load: 0, warmUpMs: 0 },
    ...{ durationMs, requestsPerSecond: callsPerSecond, traced: true },
  });
  await watch.until(load.acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  const after = cpuOfParts(stack);
  const readMs = await reader.stop();
  await checkProfiles(stack, prefix, load.acknowledgedEvents, readMs.length);
  const perCall = (cpuMs: number): number => (1_000 * cpuMs) / load.acknowledgedEvents;
  const cpuUs = { service: 0, broker: 0, engine: 0, load: perCall(load.cpuMs) };
  for (const part of parts) cpuUs[part] = perCall(after[part] - before[part]);
  return { load, storedMs: visibleAfterMs(load.trace, 0, watch), readMs, cpuUs };
}

/** Names one user after the other, and asks for each until its profile is there. */
function startReader(stack: Stack, prefix: string): { stop(): Promise<number[]> } {
  let stopped = false;
  const read = (async () => {
    const readMs: number[] = [];
    while (!stopped || readMs.length === 0) {
      const call = identifyCall(prefix, readerNumbers + readMs.length);
      const startMs = performance.now();
      const { status } = await post(stack, 'sdk.profiles.v1.ProfilesSDKService/Identify', call);
      check(status === 200, `an Identify answered 200, not ${status}`);
      while (!(await isReadable(stack, call))) await delay(readEveryMs);
      readMs.push(performance.now() - startMs);
    }
    return readMs.sort((a, b) => a - b);
  })();
  // `stop` reports a failure; until then the load goes on.
  read.catch(() => {});
  return {
    stop: () => {
      stopped = true;
      return read;
    },
  };
}

/** Throws where the profile is there with other traits than the call's. */
async function isReadable(stack: Stack, call: object): Promise<boolean> {
  const { externalId, traits } = { externalId: undefined, traits: undefined, ...call };
  const method = 'shared.profiles.v1.ProfilesService/GetByExternalId';
  const { status, text } = await post(stack, method, { externalId });
  if (status === 404) return false;
  check(status === 200, `a profile was answered ${status}: ${text}`);
  const { profile } = JSON.parse(text);
  check(isSame(profile.properties, traits), `the traits of ${externalId}: ${text}`);
  return true;
}

function isSame(a: object, b: unknown): boolean {
  const sorted = (value: unknown): string => JSON.stringify(Object.entries(value ?? {}).sort());
  return sorted(a) === sorted(b);
}

async function post(
  stack: Stack,
  method: string,
  message: object,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${stack.baseUrl}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.privateKey },
    body: JSON.stringify(message),
  });
  return { status: response.status, text: await response.text() };
}

/** Every call's profile is there with its traits, and so is the merge of its anonymous id. */
async function checkProfiles(
  stack: Stack,
  prefix: string,
  calls: number,
  readerCalls: number,
): Promise<void> {
  const wanted = calls + readerCalls;
  const profiles = await queryNumber(
    stack,
    `SELECT count() FROM profiles FINAL WHERE NOT edge AND startsWith(distinct_id, '${prefix}')
      AND named AND NOT deleted AND root = '' AND ${hasTraitsOfCallSql(prefix)}`,
  );
  check(profiles === wanted, `${wanted} profiles with their traits, not ${profiles}`);
  const merges = await queryNumber(
    stack,
    `SELECT count() FROM profiles FINAL WHERE edge AND startsWith(distinct_id, 'anon-${prefix}')
      AND distinct_id = concat('anon-', root) AND owner = root`,
  );
  check(merges === wanted, `${wanted} merges, not ${merges}`);
  for (let index = 0; index < readAfterwards; index++) {
    const number = Math.floor((index * calls) / readAfterwards);
    check(await isReadable(stack, identifyCall(prefix, number)), `the profile of call ${number}`);
  }
}

function tableOf(full: Run, fixed: Run, connections: number): Table {
  const rowOf = (name: string, { load, storedMs, readMs, cpuUs }: Run): string[] => {
    const at = (times: readonly number[], share: number): string =>
      Math.round(times[Math.floor(share * (times.length - 1))] ?? 0).toLocaleString('en-US');
    const cpu = [cpuUs.service, cpuUs.broker, cpuUs.engine, cpuUs.load];
    const together = cpu.reduce((sum, us) => sum + us, 0);
    return [
      name,
      Math.round((1_000 * load.requests) / load.countedMs).toLocaleString('en-US'),
      ...[load.p99Ms.toFixed(0), at(storedMs, 0.5), at(storedMs, 0.99), at(storedMs, 1)],
      ...[at(readMs, 0.5), at(readMs, 1)],
      ...[...cpu, together].map((us) => us.toFixed(1)),
    ];
  };
  return {
    title:
      `Identify of new users with four traits and an anonymous id, ${connections} connections; ` +
      'milliseconds until stored (every call) and read over HTTP (one at a time); CPU in us a call',
    columns: [
      ...['load', 'calls/s', 'answer p99', 'stored p50', 'p99', 'max', 'read p50', 'max'],
      ...['service', 'broker', 'engine', 'load', 'together'],
    ],
    rows: [rowOf('as fast as it can', full), rowOf('fixed rate', fixed)],
  };
}
