// Two processes with the role `pipeline` on one broker and one ClickHouse, under load: one stores, the other one takes
// over when the first is killed or frozen, and a frozen one that wakes up stores nothing a second time.
// MILLRACE_STANDBY_ROUNDS sets the rounds.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { startSteadyLoad } from './harness/backups/steady-load.ts';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { startBroker } from './harness/servers/broker.ts';
import type { ChildServer } from './harness/servers/child-server.ts';
import { differences } from './harness/servers/cluster/cluster-load.ts';
import { startEngine } from './harness/servers/engine.ts';
import { type Stack, signalProcess, startStack } from './harness/servers/stack.ts';
import { expectRollupsOfEvents } from './harness/tables/rollups.ts';

const rounds = Number(process.env['MILLRACE_STANDBY_ROUNDS'] ?? 1);
/** A machine that is taken many times over takes minutes. */
const recoveryMs = 300_000;
const waits = 'another process has the shards: this one waits for its end';
const lost = 'this process has lost the shards to another one';
const directory = mkdtempSync(join(tmpdir(), 'millrace-standby-'));
let broker: ChildServer;
let engine: ChildServer;
let front: Stack;
/** By their places. */
let pipelines: [Stack, Stack];
type Place = 0 | 1;

beforeAll(async () => {
  [broker, engine] = await Promise.all([startBroker(), startEngine()]);
  front = await start('front', 'ingest,query,control');
  pipelines = [await start('one', 'pipeline'), await start('other', 'pipeline')];
});
afterAll(async () => {
  for (const stack of [...pipelines, front]) await stack.stop();
  await Promise.all([broker.stop(), engine.stop()]);
  await removeFolder(directory);
});

function start(name: string, roles: string): Promise<Stack> {
  return startStack({
    dataDir: join(directory, name),
    env: { NATS_URL: broker.url, CLICKHOUSE_URL: engine.url, MILLRACE_SHARDS: '3' },
    args: ['--roles', roles],
  });
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What a process says of its pipeline, and whether all of it is ready. */
async function pipelineOf({ baseUrl }: Stack): Promise<string> {
  const response = await fetch(`${baseUrl}/readyz?verbose`);
  const { pipeline } = JSON.parse(await response.text());
  return `${response.status} ${pipeline}`;
}

/** Both processes, once one of them stores and the other one waits. */
async function settled(): Promise<{ owner: Place; standby: Place }> {
  const [first, second] = await eventually(
    () => Promise.all([pipelineOf(pipelines[0]), pipelineOf(pipelines[1])]),
    (both) => both.includes('200 true') && both.includes('200 standby'),
    recoveryMs,
  );
  tell(`the pipelines say: ${first}, ${second}`);
  return first === '200 true' ? { owner: 0, standby: 1 } : { owner: 1, standby: 0 };
}

async function restart(place: Place): Promise<void> {
  pipelines[place] = await pipelines[place].restart();
}

const passed = new Set<string>();

/** Sends one event and waits until it is stored. */
async function passes(): Promise<void> {
  const { eventId } = newEvent();
  const isTaken = () =>
    batchCreate(front, [newEvent({ eventId, distinctId: 'marked' })]).then(
      ({ status }) => status === 200,
      () => false,
    );
  await eventually(isTaken, Boolean, recoveryMs);
  passed.add(eventId);
  const query = `SELECT count() AS found FROM events WHERE event_id = '${eventId}'`;
  await eventually(
    () => rows<{ found: number }>(engine.url, query),
    ([row]) => Number(row?.found) > 0,
    recoveryMs,
  );
}

async function failOver(how: string, fail: () => void): Promise<void> {
  const beganMs = performance.now();
  fail();
  await passes();
  tell(`${how}: an event sent at that moment is stored after ${ms(beganMs)}`);
}

function ms(sinceMs: number): string {
  return `${Math.round(performance.now() - sinceMs)} ms`;
}

it(`each event is stored once, whichever of two pipelines is killed or frozen, ${rounds} times`, {
  timeout: 600_000 + rounds * 600_000,
}, async () => {
  await settled();
  const load = startSteadyLoad(() => front);
  onTestFinished(() => void load.stop().catch(() => {}));
  for (let round = 0; round < rounds; round++) {
    await passes();
    const killed = (await settled()).owner;
    await failOver('the owner is killed', () => pipelines[killed].kill9('service'));
    await restart(killed);

    const frozen = pipelines[(await settled()).owner];
    await failOver('the owner is frozen', () => signalProcess(frozen.pids().service, 'SIGSTOP'));
    await passes();
    signalProcess(frozen.pids().service, 'SIGCONT');
    await eventually(
      async () => frozen.log(),
      (log) => log.includes(lost),
      recoveryMs,
    );

    const stopped = (await settled()).owner;
    await failOver('the owner is stopped', () => void pipelines[stopped].stop());
    // Nobody else can have the directory of the other one, which is alone: it knows that its former process is gone.
    const alone = stopped === 0 ? 1 : 0;
    pipelines[alone].kill9('service');
    await restart(alone);
    await eventually(
      () => pipelineOf(pipelines[alone]),
      (state) => state === '200 true',
      recoveryMs,
    );
    expect(pipelines[alone].log()).not.toContain(waits);
    await restart(stopped);
  }
  await load.stop();
  const acknowledged = new Set([...load.acknowledged, ...passed]);
  expect(load.acknowledged.size).toBe(load.sent.size);
  const found = await eventually(
    () => differences({ clickhouseUrl: engine.url }, acknowledged),
    ({ lost }) => lost.length === 0,
    recoveryMs,
  );
  expect(found.doubled).toEqual([]);
  tell(`${acknowledged.size} events, each stored once`);
  const query = 'SELECT DISTINCT distinct_id FROM profiles FINAL WHERE named';
  const unnamed = async () => {
    const named = await rows<{ distinct_id: string }>(engine.url, query);
    const names = new Set(named.map((row) => row.distinct_id));
    return [...load.named].filter((name) => !names.has(name));
  };
  await eventually(unnamed, (names) => names.length === 0, recoveryMs);
  const clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 1 });
  await expectRollupsOfEvents(clickhouse).finally(() => clickhouse.close());
});
