// Tricks behind the broker: the cache of user agents, columns straight from a body's bytes, and the format in which
// rows reach the engine.

import { Readable } from 'node:stream';
import { BatchBuilder } from '../../pipeline/build/build-batch.ts';
import { createAgentParser } from '../../pipeline/enrich/user-agent.ts';
import { type DatabaseClient, insertArrow } from '../../platform/clickhouse/clickhouse.ts';
import { makeBodies } from '../../test/harness/requests/bodies.ts';
import type { Mode } from '../bench.ts';
import { makeBatches } from '../harness/batches.ts';
import { openMigratedEngine } from '../harness/engine/migrated-engine.ts';
import { makeFrames, packFrames } from '../harness/frames.ts';
import type { Contender } from '../harness/pairs.ts';
import { cpuMsOf } from '../harness/usage.ts';
import { compareWithReference, type Measured, type Trick } from './trick.ts';

const seed = 12;
const nowMs = Date.UTC(2026, 10, 20, 12);
/** The builder's own bound. */
const maxRememberedAgents = 20_000;

export const pipelineTricks: readonly Trick[] = [
  {
    name: 'user agents remembered',
    reference: 'ua-parser-js for each request',
    ...{ over: 'header to agent', batch: 1, measure: measureAgents },
  },
  {
    name: 'columns straight from the bytes',
    reference: 'an object for each event',
    ...{ over: 'frames to Arrow', batch: 100, measure: measureColumns },
  },
  {
    name: 'Arrow to the engine',
    reference: 'JSONEachRow, its text made before',
    ...{ over: 'client and engine', batch: 100, measure: measureInsert },
  },
];

function measureAgents(mode: Mode): Promise<Measured> {
  const count = mode === 'smoke' ? 50 : 10_000;
  const bodies = makeBodies({ size: 'small', batch: 1, count, seed, nowMs });
  const contender = (maxAgents: number): Contender => {
    const parse = createAgentParser(maxAgents);
    return {
      run() {
        let parsed = 0;
        for (const { userAgent } of bodies) parsed += parse(userAgent).os === undefined ? 0 : 1;
        return parsed;
      },
    };
  };
  return compareWithReference(
    { trick: contender(maxRememberedAgents), reference: contender(1), events: count },
    mode,
  );
}

function measureColumns(mode: Mode): Promise<Measured> {
  const rows = mode === 'smoke' ? 500 : 50_000;
  const bodies = makeBodies({ size: 'medium', batch: 100, count: rows / 100, seed, nowMs });
  const messages = packFrames(makeFrames(bodies, nowMs));
  const contender = (fastPath: boolean): Contender => {
    const builder = new BatchBuilder(Buffer.alloc(32, 7), { fastPath });
    return {
      run() {
        builder.read(0, messages);
        return builder.finish({ dropped: undefined }).rows?.rows ?? 0;
      },
    };
  };
  return compareWithReference(
    { trick: contender(true), reference: contender(false), events: rows },
    mode,
  );
}

async function measureInsert(mode: Mode): Promise<Measured> {
  const rows = mode === 'smoke' ? 500 : 50_000;
  const { engine, client, close } = await openMigratedEngine();
  try {
    const [arrow = new Uint8Array()] = makeBatches(rows, 1, seed);
    await insertArrow(client, 'events', arrow, 'made');
    const json = await read(client, 'SELECT * FROM events FORMAT JSONEachRow');
    const trick = inserting(client, (token) => insertArrow(client, 'events', arrow, token));
    const reference = inserting(client, (token) => insertJson(client, json, token));
    return await compareWithReference(
      { trick, reference, events: rows, othersCpuMs: () => cpuMsOf(engine.pid) },
      mode,
    );
  } finally {
    await close();
  }
}

let tokens = 0;

function inserting(client: DatabaseClient, insert: (token: string) => Promise<void>): Contender {
  return {
    async prepare() {
      await client.command({ query: 'TRUNCATE TABLE events' });
    },
    async run() {
      await insert(`trick-${tokens++}`);
      return Number(await read(client, 'SELECT count() FROM events FORMAT TabSeparated'));
    },
  };
}

/** Does the same as insertArrow, in another format. */
async function insertJson(client: DatabaseClient, text: string, token: string): Promise<void> {
  const { stream } = await client.exec({
    query: 'INSERT INTO events FORMAT JSONEachRow',
    values: Readable.from([text]),
    clickhouse_settings: { insert_deduplication_token: token, wait_end_of_query: 1 },
  });
  for await (const _ of stream);
}

async function read(client: DatabaseClient, query: string): Promise<string> {
  const { stream } = await client.exec({ query });
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}
