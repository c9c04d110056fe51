// Batches of a shop's events as the pipeline inserts them: its own columns, one Arrow stream, its own insert with a
// token. Runs in the processes that stored-shop.ts starts.

import { EventColumns } from '../../../pipeline/columns/record-batch.ts';
import { createClickHouse, insertArrow } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { batchesOf, type Shop } from './shop.ts';
import { makeBatch } from './visits.ts';

export interface ShopShare {
  clickhouseUrl: string;
  projectId: string;
  shop: Shop;
  /** This process makes the batches `first`, `first + step` and so on. */
  first: number;
  step: number;
}

const insertTimeoutMs = 300_000;

/** Stores the batches of one process, the oldest first, and calls `onStored` after each. */
export async function storeShare(share: ShopShare, onStored: () => void): Promise<void> {
  const { clickhouseUrl, projectId, shop, first, step } = share;
  const log = createLog('silent');
  const options = { log, maxConnections: 1, requestTimeoutMs: insertTimeoutMs };
  const clickhouse = createClickHouse(clickhouseUrl, options);
  const columns = new EventColumns();
  let stored = Promise.resolve();
  try {
    for (let batch = first; batch < batchesOf(shop); batch += step) {
      makeBatch(shop, batch, (row, receiveTimeMs) => {
        columns.append(row, projectId, receiveTimeMs, { shard: 0, streamSeq: batch + 1 });
      });
      const arrow = columns.toArrowStream();
      columns.clear();
      // One insert is under way while the next batch is made.
      await stored;
      stored = insertArrow(clickhouse, 'events', arrow, `shop-${shop.seed}-${batch}`).then(
        onStored,
      );
      stored.catch(() => {});
    }
    await stored;
  } finally {
    await clickhouse.close();
  }
}
