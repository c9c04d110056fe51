// Checks the books of a shard: that accepted = stored + duplicates + dead letters for every batch, and that the table
// has as many rows as the ledger says were stored. It only reports; nothing acts on it.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Log } from '../../platform/log.ts';
import { inRangesSql, type SequenceRange, unionOf } from './sequence-ranges.ts';
import type { DoneBatch } from './writer.ts';

/** The batches that are recounted at once. */
interface Stretch {
  seqs: SequenceRange[];
  stored: number;
  minReceiveTimeMs: number;
  maxReceiveTimeMs: number;
}

/** Of one statement: as many as 32 KiB of text hold. */
const maxRanges = 1_000;

const countRows = (seqs: readonly SequenceRange[]): string => `
  SELECT count() AS rows FROM events
  WHERE shard = {shard:UInt16}
    AND stream_seq BETWEEN {firstSeq:UInt64} AND {lastSeq:UInt64}
    ${seqs.length > 1 ? `AND ${inRangesSql('stream_seq', seqs)}` : ''}
    AND receive_time BETWEEN fromUnixTimestamp64Milli({fromMs:Int64})
                         AND fromUnixTimestamp64Milli({toMs:Int64})`;

/** Of all projects: a mutation does not tell whose rows it takes. */
const deletions = `
  SELECT count() FROM system.mutations
  WHERE database = currentDatabase() AND table = 'events' AND command LIKE '%DELETE%'
    AND create_time >= toDateTime(intDiv({fromMs:Int64}, 1000))`;

interface AuditOptions {
  clickhouse: Pick<ClickHouseClient, 'query'>;
  shard: number;
  log: Log;
  /** Reports by how many events the counts of a batch do not add up. */
  onUnaccounted(events: number): void;
  /**
   * Reports each recount, which no other repeats: rows too many (positive) or missing (negative), or 0. One in which
   * rows are missing that a deletion may have taken is not reported.
   */
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
      seqs: pending.seqs,
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
    let rows = 0;
    let wereDeleted = false;
    try {
      for (let from = 0; from < stretch.seqs.length; from += maxRanges) {
        rows += await this.#count(stretch, stretch.seqs.slice(from, from + maxRanges));
      }
      wereDeleted = rows < stretch.stored && (await this.#hasDeletions(stretch));
    } catch (error) {
      this.#wait(stretch);
      throw error;
    }
    const difference = rows - stretch.stored;
    const seqs = [stretch.seqs[0]?.[0], stretch.seqs.at(-1)?.[1]];
    if (wereDeleted) {
      const { log } = this.#options;
      log.info({ ...stretch, seqs, difference }, 'events were deleted before they were recounted');
      return;
    }
    this.#options.onDifference(difference);
    if (difference === 0) return;
    this.#options.log.error({ ...stretch, seqs, difference }, 'the table differs');
  }

  #wait(stretch: Stretch): void {
    const whole = this.#waiting ?? stretch;
    this.#waiting = {
      seqs: unionOf(this.#waiting?.seqs ?? [], stretch.seqs),
      stored: stretch.stored + (this.#waiting?.stored ?? 0),
      minReceiveTimeMs: Math.min(whole.minReceiveTimeMs, stretch.minReceiveTimeMs),
      maxReceiveTimeMs: Math.max(whole.maxReceiveTimeMs, stretch.maxReceiveTimeMs),
    };
  }

  /** Whether events are or were deleted since these came: of an erased person, or that a project keeps no longer. */
  async #hasDeletions({ minReceiveTimeMs }: Stretch): Promise<boolean> {
    const result = await this.#options.clickhouse.query({
      query: deletions,
      format: 'JSONCompactEachRow',
      query_params: { fromMs: minReceiveTimeMs },
    });
    const [row] = await result.json<[string]>();
    return Number(row?.[0] ?? 0) > 0;
  }

  async #count(stretch: Stretch, seqs: readonly SequenceRange[]): Promise<number> {
    const result = await this.#options.clickhouse.query({
      query: countRows(seqs),
      format: 'JSONCompactEachRow',
      query_params: {
        shard: this.#options.shard,
        firstSeq: seqs[0]?.[0] ?? 0,
        lastSeq: seqs.at(-1)?.[1] ?? 0,
        fromMs: stretch.minReceiveTimeMs,
        toMs: stretch.maxReceiveTimeMs,
      },
    });
    const [row] = await result.json<[string]>();
    return Number(row?.[0] ?? 0);
  }
}
