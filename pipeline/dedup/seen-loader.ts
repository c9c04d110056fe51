// Fills a seen-set after the start of a writer, while the writer already works: the ids of the window that event_ids
// lacks, the newest first as far as there is room, and puts the others into event_ids. Until that is done it finds
// stored events in the tables; duplicate-check.ts asks for every event that the set does not know.

import type { ClickHouseClient } from '@clickhouse/client';
import { duplicateWindowMs, maxOccurTimeAheadMs } from '../../platform/limits.ts';
import type { EventKeys } from '../build/event-key.ts';
import {
  findStored,
  type IdentifiedRows,
  insertIds,
  noteReach,
  readNumbers,
  readReach,
  type SeenSource,
  windowRows,
} from './event-ids.ts';
import type { RecentTable } from './recent-table.ts';
import { isAheadOf, periodOf, type SeenSet } from './seen-set.ts';
import { type OnKey, readKeys, selectKeys } from './stored-keys.ts';
import { findUnloaded } from './unloaded-ids.ts';

/** The window is cut into parts at multiples of this. */
const sliceMs = 10_000;

/** A row that is not in event_ids: of this stream up to `lastSeq`, or of an earlier stream. */
const isMissing = `
  (stream_seq > {reachSeq:UInt64} AND stream_seq <= {lastSeq:UInt64}
    OR receive_time < fromUnixTimestamp64Milli({streamCreatedMs:Int64}))`;

const countSlices = `
  SELECT intDiv(toUnixTimestamp64Milli(receive_time), ${sliceMs}) AS slice, count()
  FROM events WHERE ${windowRows} AND ${isMissing} GROUP BY slice ORDER BY slice DESC`;

const selectLast = `
  SELECT max(stream_seq) FROM events
  WHERE ${windowRows} AND receive_time >= fromUnixTimestamp64Milli({streamCreatedMs:Int64})`;

const selectMissing = selectKeys(isMissing);

const selectAhead = selectKeys(
  `occur_time > fromUnixTimestamp64Milli({aheadOfMs:Int64})
    AND (NOT ${isMissing} OR receive_time < fromUnixTimestamp64Milli({loadedFromMs:Int64}))`,
  'LIMIT {limit:UInt64}',
);

interface SeenLoaderOptions {
  clickhouse: Pick<ClickHouseClient, 'query' | 'exec' | 'command'>;
  seen: SeenSet;
  eventKeys: EventKeys;
  source: SeenSource;
  /** The ledger's mark at the start; undefined where the ledger is of no stream or of an earlier one. */
  hwm: number | undefined;
  nowMs: number;
  /** Repeats a call until it is answered; rejects once `signal` is aborted. */
  untilAnswered<T>(call: () => Promise<T>): Promise<T>;
  /** Ends the loading, and the statement that runs. */
  signal: AbortSignal;
}

/** Rows by their time of receipt. */
interface Period {
  fromMs: number;
  toMs: number;
}

interface Part extends Period {
  rows: number;
}

type Missing = SeenSource & Period & { reachSeq: number; lastSeq: number };

export class SeenLoader {
  readonly #options: SeenLoaderOptions;
  readonly #window: Period;
  /** All rows that neither the set nor event_ids has are within it; undefined for none. */
  #unloaded: Period | undefined;

  /** From here on the set says 'maybe' of each event that it does not know; `run` says when that ends. */
  constructor(options: SeenLoaderOptions) {
    this.#options = options;
    const { nowMs, seen } = options;
    // The window goes beyond now too: the clock of the machine that received an event may be ahead.
    this.#window = { fromMs: nowMs - duplicateWindowMs, toMs: nowMs + duplicateWindowMs };
    this.#unloaded = this.#window;
    seen.beginLoading();
  }

  /** Those of `rows` whose event is stored and, at this moment, not in the set. Tries until it knows. */
  async findStored(ids: IdentifiedRows, rows: readonly number[]): Promise<number[]> {
    const { clickhouse, source, untilAnswered } = this.#options;
    // Before the first wait: a row that comes into the set meanwhile was not there when the set was asked.
    const unloaded = this.#unloaded;
    const found = await untilAnswered(() => findStored(clickhouse, ids, rows));
    if (unloaded === undefined) return found;
    const where = { shard: source.shard, ...unloaded };
    return [...found, ...(await untilAnswered(() => findUnloaded(clickhouse, where, ids, rows)))];
  }

  /** Loads, once. Returns the number of rows whose ids came into the set. Rejects where `signal` is aborted. */
  async run(): Promise<number> {
    const { clickhouse, seen, source, untilAnswered } = this.#options;
    const { reachSeq, reachMs } = await untilAnswered(() => readReach(clickhouse, source));
    const missing = { ...source, ...this.#window, reachSeq, lastSeq: await this.#lastSeq() };
    const slices = await untilAnswered(() => readNumbers(clickhouse, countSlices, missing));
    const parts = partsOf(slices, this.#window, seen.maxLoadedRows);
    this.#narrow({ fromMs: parts.at(-1)?.fromMs ?? this.#window.fromMs });
    let loaded = 0;
    let part = parts.shift();
    for (; part !== undefined && seen.hasRoomFor(part.rows); part = parts.shift()) {
      loaded += await this.#load(part, missing);
      this.#narrow({ toMs: part.fromMs });
    }
    const older = part === undefined ? [] : [part, ...parts];
    const loadedFromMs = older[0]?.toMs ?? this.#window.fromMs;
    const unreadMs = older.length > 0 ? Math.max(reachMs, loadedFromMs) : reachMs;
    loaded += await this.#addUnread(missing, unreadMs, loadedFromMs);
    for (const next of older) {
      await this.#insert(next, missing);
      this.#narrow({ toMs: next.fromMs });
    }
    if (older.length > 0) await this.#noteReach(reachSeq, unreadMs);
    this.#unloaded = undefined;
    seen.endLoading();
    return loaded;
  }

  /**
   * The last row that is stored by now. Rows beyond the ledger's mark count too: a broker that lost its power may have
   * lost the ledger's latest steps, and delivers their messages again. Rows that this writer has stored meanwhile are
   * in the set twice, which does no harm.
   */
  async #lastSeq(): Promise<number> {
    const { clickhouse, source, untilAnswered } = this.#options;
    const window = { ...source, ...this.#window };
    const [[last = 0] = []] = await untilAnswered(() =>
      readNumbers(clickhouse, selectLast, window),
    );
    return last;
  }

  #narrow({ fromMs = this.#unloaded?.fromMs, toMs = this.#unloaded?.toMs }: Partial<Period>): void {
    if (fromMs !== undefined && toMs !== undefined) this.#unloaded = { fromMs, toMs };
  }

  async #load(part: Part, missing: Missing): Promise<number> {
    const { seen } = this.#options;
    const parameters = { ...missing, fromMs: part.fromMs, toMs: part.toMs };
    const table = await this.#fill(
      () => seen.makeLoaded(part.rows, part.fromMs),
      { query: selectMissing, parameters },
      (into, high, low, occurTimeMs, receiveTimeMs, seq) => {
        into.put(high, low, occurTimeMs, isAheadOf(occurTimeMs, receiveTimeMs));
        into.includeRow(seq, receiveTimeMs);
      },
    );
    seen.addLoaded(table);
    return table.keys.count;
  }

  /**
   * Tells the set up to which time there are rows that it does not have. Rows whose events occurred after that time are
   * loaded all the same.
   */
  async #addUnread(missing: Missing, unreadMs: number, loadedFromMs: number): Promise<number> {
    const { seen } = this.#options;
    if (unreadMs < this.#window.fromMs) {
      seen.addUnread(unreadMs);
      return 0;
    }
    const limit = seen.maxLoadedRows;
    const table = await this.#fill(
      () => seen.makeLoaded(0, unreadMs),
      { query: selectAhead, parameters: { ...missing, aheadOfMs: unreadMs, loadedFromMs, limit } },
      (into, high, low, occurTimeMs) => into.put(high, low, occurTimeMs, true),
    );
    const { count } = table.keys;
    if (count > 0) seen.addLoaded(table);
    // At the limit some may be missing: the set then says 'maybe' of every event until the window has passed.
    seen.addUnread(count === limit ? unreadMs + maxOccurTimeAheadMs : unreadMs);
    return count;
  }

  /** Makes a new table on each try: a table that was filled halfway must not be filled again. */
  #fill(
    makeTable: () => RecentTable,
    query: { query: string; parameters: object },
    put: (into: RecentTable, ...row: Parameters<OnKey>) => void,
  ): Promise<RecentTable> {
    const { clickhouse, eventKeys, signal, untilAnswered } = this.#options;
    return untilAnswered(async () => {
      const table = makeTable();
      await readKeys(clickhouse, eventKeys, { ...query, signal }, (...row) => put(table, ...row));
      return table;
    });
  }

  /** Puts the ids of a part into event_ids. */
  async #insert({ fromMs, toMs }: Part, missing: Missing): Promise<void> {
    const { clickhouse, untilAnswered, signal } = this.#options;
    const parameters = { ...missing, fromMs, toMs };
    await untilAnswered(() => insertIds(clickhouse, isMissing, parameters, signal));
  }

  /** Notes how far event_ids goes, so that the next start finds these rows there. */
  async #noteReach(reachSeq: number, unreadMs: number): Promise<void> {
    const { clickhouse, seen, source, hwm, untilAnswered } = this.#options;
    // Rows of earlier streams have sequences of their own: without a mark none can be told apart.
    const reach = Math.min(hwm ?? 0, seen.firstSeq - 1);
    if (reach <= reachSeq) return;
    await untilAnswered(() => noteReach(clickhouse, source, reach, unreadMs));
  }
}

/** The parts that hold all slices, the newest first: each is of one period and, beyond its first slice, bounded. */
function partsOf(slices: readonly number[][], window: Period, maxRows: number): Part[] {
  const parts: Part[] = [];
  for (const [slice = 0, rows = 0] of slices) {
    const fromMs = Math.max(slice * sliceMs, window.fromMs);
    const last = parts.at(-1);
    const isSamePeriod = last !== undefined && periodOf(last.fromMs) === periodOf(fromMs);
    if (last === undefined || !isSamePeriod || last.rows + rows > maxRows) {
      parts.push({ fromMs, toMs: last?.fromMs ?? window.toMs, rows });
    } else {
      last.fromMs = fromMs;
      last.rows += rows;
    }
  }
  return parts;
}
