// Two processes with the role `pipeline` on one broker and one ClickHouse, under load: one stores, the other one takes
// over when the first is killed or frozen, and a frozen one that wakes up stores nothing a second time.
// MILLRACE_STANDBY_ROUNDS sets the rounds.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { startSteadyLoad } from './harness/backups/steady-load.ts';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { startBroker } from './harness/servers/broker.ts';
import type { ChildServer } from './harness/servers/child-server.ts';
import { differences } from './harness/servers/cluster/cluster-load.ts';
import { startEngine } from './harness/servers/engine.ts';
import { type Stack, signalProcess, startStack } from './harness/servers/stack.ts';
import { expectRollupsOfEvents } from './harness/tables/rollups.ts';

const rounds = Number(process.env['MILLRACE_STANDBY_ROUNDS'] ?? 1);
const recoveryMs = 120_000;
const waits = 'another process has the shards: this one waits for its end';
const directory = mkdtempSync(join(tmpdir(), 'millrace-standby-'));
let broker: ChildServer;
let engine: ChildServer;
let front: Stack;
let one: Stack;
let other: Stack;

beforeAll(async () => {
  [broker, engine] = await Promise.all([startBroker(), startEngine()]);
  front = await start('front', 'ingest,query,control');
  one = await start('one', 'pipeline');
  other = await start('other', 'pipeline');
});
afterAll(async () => {
  for (const stack of [other, one, front]) await stack.stop();
  await Promise.all([broker.stop(), engine.stop()]);
  rmSync(directory, { recursive: true });
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
async function pipelineOf({ baseUrl }: Stack): Promise<unknown> {
  const { status } = await fetch(`${baseUrl}/readyz`);
  const { pipeline } = JSON.parse(await (await fetch(`${baseUrl}/readyz?verbose`)).text());
  return [status, pipeline];
}

async function expectOwner(owner: Stack, standby: Stack): Promise<void> {
  await expect.poll(() => pipelineOf(owner), { timeout: recoveryMs }).toEqual([200, true]);
  await expect.poll(() => pipelineOf(standby), { timeout: recoveryMs }).toEqual([200, 'standby']);
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
  timeout: 300_000 + rounds * 180_000,
}, async () => {
  await expectOwner(one, other);
  const load = startSteadyLoad(() => front);
  onTestFinished(() => void load.stop().catch(() => {}));
  for (let round = 0; round < rounds; round++) {
    await passes();
    await failOver('the owner is killed', () => one.kill9('service'));
    // One that comes back takes nothing from an owner that is well.
    one = await one.restart();
    await expectOwner(other, one);

    const frozen = other.pids().service;
    await failOver('the owner is frozen', () => signalProcess(frozen, 'SIGSTOP'));
    await passes();
    signalProcess(frozen, 'SIGCONT');
    await expectOwner(one, other);
    expect(other.log()).toContain(waits);

    await other.stop();
    one.kill9('service');
    one = await one.restart();
    await expect.poll(() => pipelineOf(one), { timeout: recoveryMs }).toEqual([200, true]);
    // Nobody else can have its directory, so that it knows that its former process is gone.
    expect(one.log()).not.toContain(waits);
    other = await other.restart();
    await expectOwner(one, other);
    await failOver('the owner is stopped', () => void one.stop());
    one = await one.restart();
    await expectOwner(other, one);
    [one, other] = [other, one];
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
  const named = await rows<{ distinct_id: string }>(
    engine.url,
    'SELECT DISTINCT distinct_id FROM profiles FINAL WHERE named',
  );
  const names = new Set(named.map((row) => row.distinct_id));
  expect([...load.named].filter((name) => !names.has(name))).toEqual([]);
  const clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 1 });
  await expectRollupsOfEvents(clickhouse).finally(() => clickhouse.close());
});
