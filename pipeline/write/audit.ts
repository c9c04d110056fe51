// Checks the books of a shard: that accepted = stored + duplicates + dead letters for every batch, and that the table
// has as many rows as the ledger says were stored. It only reports; nothing acts on it.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Log } from '../../platform/log.ts';
import type { DoneBatch } from './writer.ts';

/** Batches that wait for a recount; beyond this number the oldest are not recounted. */
const maxWaiting = 10_000;

/** The batches of one stretch of the stream, which are recounted at once. */
interface Stretch {
  firstSeq: number;
  lastSeq: number;
  stored: number;
  minReceiveTimeMs: number;
  maxReceiveTimeMs: number;
}

const countRows = `
  SELECT count() AS rows FROM events
  WHERE shard = {shard:UInt16}
    AND stream_seq BETWEEN {firstSeq:UInt64} AND {lastSeq:UInt64}
    AND receive_time BETWEEN fromUnixTimestamp64Milli({fromMs:Int64})
                         AND fromUnixTimestamp64Milli({toMs:Int64})`;

interface AuditOptions {
  clickhouse: Pick<ClickHouseClient, 'query'>;
  shard: number;
  log: Log;
  /** Reports by how many events the counts of a batch do not add up. */
  onUnaccounted(events: number): void;
  /** Reports each recount: rows too many (positive) or missing (negative), or 0. */
  onDifference(rows: number): void;
}

export class Audit {
  readonly #options: AuditOptions;
  #waiting: Stretch[] = [];

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  /** Checks a batch's counts and keeps it for the next recount. */
  record({ pending, ids }: DoneBatch): void {
    const { accepted, stored, duplicates, deadLetters } = pending.counts;
    const unaccounted = accepted - stored - duplicates - deadLetters;
    if (unaccounted !== 0) {
      this.#options.onUnaccounted(Math.abs(unaccounted));
      this.#options.log.error({ seqs: pending.seqs, counts: pending.counts }, 'the books differ');
    }
    if (ids.rows === 0) return;
    this.#waiting.push({
      firstSeq: pending.seqs[0]?.[0] ?? 0,
      lastSeq: pending.seqs.at(-1)?.[1] ?? 0,
      stored,
      minReceiveTimeMs: ids.minReceiveTimeMs,
      maxReceiveTimeMs: ids.maxReceiveTimeMs,
    });
    if (this.#waiting.length > maxWaiting) this.#waiting.shift();
  }

  /** Recounts the batches recorded since the last recount. Throws the client's errors. */
  async recount(): Promise<void> {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    const stretch = waiting.reduce((whole, part) => ({
      firstSeq: whole.firstSeq,
      lastSeq: part.lastSeq,
      stored: whole.stored + part.stored,
      minReceiveTimeMs: Math.min(whole.minReceiveTimeMs, part.minReceiveTimeMs),
      maxReceiveTimeMs: Math.max(whole.maxReceiveTimeMs, part.maxReceiveTimeMs),
    }));
    const difference = (await this.#count(stretch)) - stretch.stored;
    this.#options.onDifference(difference);
    if (difference !== 0) this.#options.log.error({ ...stretch, difference }, 'the table differs');
  }

  async #count(stretch: Stretch): Promise<number> {
    const result = await this.#options.clickhouse.query({
      query: countRows,
      format: 'JSONCompactEachRow',
      query_params: {
        shard: this.#options.shard,
        firstSeq: stretch.firstSeq,
        lastSeq: stretch.lastSeq,
        fromMs: stretch.minReceiveTimeMs,
        toMs: stretch.maxReceiveTimeMs,
      },
    });
    const [row] = await result.json<[string]>();
    return Number(row?.[0] ?? 0);
  }
}
