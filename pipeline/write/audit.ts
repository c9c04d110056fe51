// Checks the books of a shard: that accepted = stored + duplicates + dead letters for every batch, and that the table
// has as many rows as the ledger says were stored. It only reports; nothing acts on it.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Log } from '../../platform/log.ts';
import type { DoneBatch } from './writer.ts';

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
  /** Reports each recount, which no other repeats: rows too many (positive) or missing (negative), or 0. */
  onDifference(rows: number): void;
}

export class Audit {
  readonly #options: AuditOptions;
  #waiting: Stretch | undefined;

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
    this.#wait({
      firstSeq: pending.seqs[0]?.[0] ?? 0,
      lastSeq: pending.seqs.at(-1)?.[1] ?? 0,
      stored,
      minReceiveTimeMs: ids.minReceiveTimeMs,
      maxReceiveTimeMs: ids.maxReceiveTimeMs,
    });
  }

  /**
   * Recounts the batches recorded since the last recount. Throws the client's errors: the next recount has them too.
   */
  async recount(): Promise<void> {
    const stretch = this.#waiting;
    if (stretch === undefined) return;
    this.#waiting = undefined;
    let rows: number;
    try {
      rows = await this.#count(stretch);
    } catch (error) {
      this.#wait(stretch);
      throw error;
    }
    const difference = rows - stretch.stored;
    this.#options.onDifference(difference);
    if (difference !== 0) this.#options.log.error({ ...stretch, difference }, 'the table differs');
  }

  #wait(stretch: Stretch): void {
    const whole = this.#waiting ?? stretch;
    this.#waiting = {
      firstSeq: Math.min(whole.firstSeq, stretch.firstSeq),
      lastSeq: Math.max(whole.lastSeq, stretch.lastSeq),
      stored: stretch.stored + (this.#waiting?.stored ?? 0),
      minReceiveTimeMs: Math.min(whole.minReceiveTimeMs, stretch.minReceiveTimeMs),
      maxReceiveTimeMs: Math.max(whole.maxReceiveTimeMs, stretch.maxReceiveTimeMs),
    };
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
