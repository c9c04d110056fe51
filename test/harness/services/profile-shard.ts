// The profiles of one shard on a real broker and engine, for tests of its writer: queues changes, runs writers and
// reads the tables.

import { expect } from 'vitest';
import { createPipelineMetrics } from '../../../pipeline/metrics.ts';
import { runProfileShard } from '../../../pipeline/profile-shard.ts';
import { loadRecords } from '../../../pipeline/profiles/read-records.ts';
import { type LedgerRecord, readLedgerRecord } from '../../../pipeline/write/ledger-record.ts';
import { includes } from '../../../pipeline/write/sequence-ranges.ts';
import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../../platform/broker/record-bucket.ts';
import {
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
} from '../../../platform/broker/streams.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../../../platform/clock.ts';
import { createLog } from '../../../platform/log.ts';
import { createMetrics, type Metrics } from '../../../platform/metrics.ts';
import { encodeContext, projectMark } from '../../../proto/wire/frame.ts';
import { encodeFrame } from '../../../proto/wire/frame-writer.ts';
import { encodeChange, type ProfileChange } from '../../../proto/wire/profile-change.ts';
import { startBroker } from '../servers/broker.ts';
import { startEngine } from '../servers/engine.ts';

export interface ProfileWriter {
  /** Resolves once the ledger has the message of this sequence as done. */
  done(seq: number): Promise<void>;
  /** Resolves to the reason why the writer ended. */
  stop(): Promise<unknown>;
}

export class ProfileShard {
  readonly nats: NatsConnection;
  readonly clickhouse: DatabaseClient;
  readonly clickhouseUrl: string;
  readonly ledger: RecordBucket<LedgerRecord>;
  readonly metrics: Metrics = createMetrics();
  readonly #pipelineMetrics = createPipelineMetrics(this.metrics);
  readonly #log = createLog('silent');
  readonly #stop: () => Promise<void>;

  constructor(
    nats: NatsConnection,
    { clickhouse, clickhouseUrl }: { clickhouse: DatabaseClient; clickhouseUrl: string },
    ledger: RecordBucket<LedgerRecord>,
    stop: () => Promise<void>,
  ) {
    this.nats = nats;
    this.clickhouse = clickhouse;
    this.clickhouseUrl = clickhouseUrl;
    this.ledger = ledger;
    this.#stop = stop;
  }

  /** Queues one frame of these changes; returns its sequence. */
  async publish(projectId: string, ...changes: ProfileChange[]): Promise<number> {
    const context = encodeContext({ projectId, credential: 'private', receiveTimeMs: Date.now() });
    const project = projectMark(projectId);
    const requests = changes.map((change) => {
      return { context, body: encodeChange(change), events: 1, project };
    });
    const { seq } = await this.nats.jetstream().publish(profilesSubject(0), encodeFrame(requests));
    return seq;
  }

  /** The sequence of the message that was queued last. */
  async lastSeq(): Promise<number> {
    const manager = await this.nats.jetstreamManager();
    return (await manager.streams.info(profilesStream(0))).state.last_seq;
  }

  startWriter(): ProfileWriter {
    const stop = new AbortController();
    const ended = runProfileShard({
      nats: this.nats,
      clickhouse: this.clickhouse,
      shard: 0,
      clock: systemClock,
      log: this.#log,
      metrics: this.#pipelineMetrics,
      stop: stop.signal,
      abort: new AbortController().signal,
      onState: () => {},
    });
    return {
      done: async (seq) => {
        while (!(await this.isDone(seq))) await new Promise((resolve) => setTimeout(resolve, 10));
      },
      stop: async () => {
        stop.abort();
        return ended;
      },
    };
  }

  /** Whether the ledger has the message of this sequence as done. */
  async isDone(seq: number): Promise<boolean> {
    const read = await this.ledger.get(profilesLedgerKey(0));
    if (read.kind !== 'found') return false;
    const { hwm, ahead = [] } = read.record;
    return hwm >= seq || includes(ahead, seq);
  }

  /** Applies the changes as one batch, or each as a batch of its own. */
  async apply(projectId: string, asOne: boolean, ...changes: ProfileChange[]): Promise<void> {
    const writer = this.startWriter();
    const batches = asOne ? [changes] : changes.map((change) => [change]);
    for (const batch of batches) await writer.done(await this.publish(projectId, ...batch));
    await writer.stop();
  }

  /** The named profiles of a project in the order of their ids, from the table that lists are read from. */
  async listed(projectId: string): Promise<string[]> {
    const rows = await this.#read(
      `SELECT distinct_id FROM profiles_by_creation FINAL WHERE project_id = {projectId:String} AND live
        ORDER BY distinct_id`,
      projectId,
    );
    return rows.map(([distinctId = '']) => distinctId);
  }

  /**
   * The merged ids of a project as reads of a person find them, 'a into b'. Throws where the edges themselves say
   * otherwise.
   */
  async merged(projectId: string): Promise<string[]> {
    const edges = await this.#read(
      `SELECT distinct_id, root FROM profiles FINAL WHERE project_id = {projectId:String} AND edge AND root != ''`,
      projectId,
    );
    const ids = await this.#read(
      `SELECT DISTINCT hex(profile_id), distinct_id FROM profiles WHERE project_id = {projectId:String}`,
      projectId,
    );
    const names = new Map(ids.map(([id = '', distinctId = '']) => [id, distinctId]));
    const found = await this.#read(
      `SELECT hex(profile_id), hex(root_id) FROM profiles_by_root FINAL WHERE project_id = {projectId:String} AND live`,
      projectId,
    );
    const texts = found
      .map(([id = '', root = '']) => `${names.get(id)} into ${names.get(root)}`)
      .sort();
    expect(texts).toEqual(edges.map(([id, root]) => `${id} into ${root}`).sort());
    return texts;
  }

  /** The stored traits of an id as JSON texts by key; undefined where it has no record. */
  async traitsOf(projectId: string, distinctId: string): Promise<unknown> {
    const [found] = await loadRecords(this.clickhouse, [{ projectId, distinctId }]);
    return found && Object.fromEntries(found.traits?.values ?? []);
  }

  /** Ends the broker and the engine. */
  stop(): Promise<void> {
    return this.#stop();
  }

  async #read(query: string, projectId: string): Promise<string[][]> {
    const format = 'JSONCompactEachRow';
    return (await this.clickhouse.query({ query, query_params: { projectId }, format })).json();
  }
}

/** Starts a broker and an engine for one shard. */
export async function startProfileShard(): Promise<ProfileShard> {
  const log = createLog('silent');
  const [broker, engine] = await Promise.all([startBroker(), startEngine()]);
  const nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  const clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  const ledger = await openBucket(nats, buckets.ledger, readLedgerRecord);
  const tables = { clickhouse, clickhouseUrl: engine.url };
  return new ProfileShard(nats, tables, ledger, async () => {
    await clickhouse.close();
    await nats.close();
    await Promise.all([broker.stop(), engine.stop()]);
  });
}

export function identify(
  externalId: string,
  traits: [string, string][],
  anonymousId = '',
): ProfileChange {
  return { kind: 'identify', externalId, anonymousId, deviceId: '', traits };
}

export function alias(previousId: string, externalId: string): ProfileChange {
  return { kind: 'alias', previousId, externalId };
}

export function unmerge(distinctId: string): ProfileChange {
  return { kind: 'unmerge', distinctId };
}
