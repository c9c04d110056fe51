// What erasures work on, for their tests: a broker with the topology of one shard, an engine, and the requests.

import { buckets } from '../../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../../platform/broker/nats.ts';
import { openBucket } from '../../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../../platform/broker/topology.ts';
import { type WatchedBucket, watchBucket } from '../../../platform/broker/watched-bucket.ts';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { type ErasureRecord, readErasure } from '../../../platform/erasure/erasure-record.ts';
import type { Log } from '../../../platform/log.ts';

interface ErasureStores {
  nats: NatsConnection;
  clickhouse: DatabaseClient;
  requests: WatchedBucket<ErasureRecord>;
  close(): Promise<void>;
}

export async function openErasureStores(
  brokerUrl: string,
  engineUrl: string,
  log: Log,
): Promise<ErasureStores> {
  const nats = await connectBroker(brokerUrl, log);
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  const clickhouse = createClickHouse(engineUrl, { log, maxConnections: 4 });
  const bucket = await openBucket(nats, buckets.erasures, readErasure);
  const requests = await watchBucket(nats, bucket, { log });
  return {
    ...{ nats, clickhouse, requests },
    async close() {
      await requests.close();
      await clickhouse.close();
      await nats.close();
    },
  };
}
