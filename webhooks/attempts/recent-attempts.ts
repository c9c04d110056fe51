// The newest attempts of the log, of all webhooks and processes: those on their way to the table, and the table's. A
// broker that was killed delivers messages again whose acks it had not written; this tells which of them are done.

import { leaderInfo } from '../../platform/broker/cluster/leader-info.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { messageAt } from '../../platform/broker/queues/message-at.ts';
import { collectRows, type RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Log } from '../../platform/log.ts';
import { timeLimit } from '../../platform/memory/time-limit.ts';
import { retry } from '../../platform/retry.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import { triggers } from '../../platform/webhooks/delivery.ts';
import { attemptLogStream } from '../../platform/webhooks/webhook-streams.ts';
import { decodeAttempt } from './attempt-row.ts';

/** What tells an attempt from all others; `attempt` is 0 where nothing was sent. */
export type LoggedAttempt = Pick<
  AttemptRecord,
  'deliveryId' | 'attempt' | 'trigger' | 'acceptTimeMs'
>;

interface RecentOptions {
  connection: NatsConnection;
  clickhouse: RowReader;
  log: Log;
  /** For each of the two reads (5 s). */
  maxReadMs?: number;
}

/** 50 s of full load. A killed nats-server 2.9 forgets less than a second of acks. */
export const maxRecentAttempts = 50_000;
const windowMs = 300_000;
/** Of the stream: it holds seconds' worth, unless the table cannot be written. */
const maxWaiting = 10_000;
const maxWaitingBytes = 64 * 1_048_576;
const getsAtOnce = 64;
/** As JSON with its comma and line end; ids are our own. */
const maxCharacters = maxRecentAttempts * 128;

/**
 * The oldest first, at most `maxRecentAttempts`. Never rejects: what cannot be read in time is missing, and the log
 * says so.
 */
export async function readRecentAttempts(options: RecentOptions): Promise<LoggedAttempt[]> {
  // In this order, because a record leaves the stream once it is in the table.
  const waiting = await inTime('stream', options, readStream);
  const stored = await inTime('table', options, readTable);
  return [...stored, ...waiting].slice(-maxRecentAttempts);
}

async function inTime(
  place: 'stream' | 'table',
  options: RecentOptions,
  read: (options: RecentOptions, signal: AbortSignal) => Promise<LoggedAttempt[]>,
): Promise<LoggedAttempt[]> {
  const { log, maxReadMs = 5_000 } = options;
  const signal = timeLimit(maxReadMs);
  const reading = retry(() => read(options, signal), { signal, baseMs: 50, capMs: 500 });
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  try {
    return await Promise.race([reading, late]);
  } catch (error) {
    log.warn({ err: error, place }, 'recent attempts are not known: some may be repeated');
    return [];
  }
}

/** Walks back from the newest record: reading them needs no consumer, which a queue has for its writer alone. */
async function readStream(
  { connection }: RecentOptions,
  signal: AbortSignal,
): Promise<LoggedAttempt[]> {
  const manager = await connection.jetstreamManager({ checkAPI: false });
  const { state } = await leaderInfo(manager, attemptLogStream);
  // A stream that never held a message says that it begins at 0, where no message is.
  const firstSeq = Math.max(1, state.first_seq, state.last_seq - maxWaiting + 1);
  const found: LoggedAttempt[] = [];
  let bytes = 0;
  for (let last = state.last_seq; last >= firstSeq && bytes < maxWaitingBytes; last -= getsAtOnce) {
    signal.throwIfAborted();
    const count = Math.min(getsAtOnce, last - firstSeq + 1);
    const seqs = Array.from({ length: count }, (_, index) => last - index);
    const messages = await Promise.all(
      seqs.map((seq) => messageAt(manager, attemptLogStream, seq)),
    );
    for (const message of messages) {
      // A record that is in the table meanwhile has no message.
      bytes += message?.data.length ?? 0;
      const record = message && decodeAttempt(message.data);
      if (record !== undefined) found.push(record);
    }
  }
  return found.reverse().map(namesOf);
}

/** Back from the newest row, however long ago that is: nothing was attempted while no process ran. */
async function readTable(
  { clickhouse }: RecentOptions,
  signal: AbortSignal,
): Promise<LoggedAttempt[]> {
  const select = {
    // The newest time is read from the parts' bounds, without a row.
    sql: `
      SELECT delivery_id, attempt, trigger, toUnixTimestamp64Milli(accept_time)
      FROM webhook_attempts
      WHERE attempt_time >= (SELECT max(attempt_time) FROM webhook_attempts) - INTERVAL {windowMs:UInt32} MILLISECOND
      ORDER BY attempt_time DESC
      LIMIT {maxRows:UInt32}`,
    params: { windowMs, maxRows: maxRecentAttempts },
    settings: { output_format_json_quote_64bit_integers: 1 },
    signal,
  };
  const { rows } = await collectRows(clickhouse, select, maxCharacters);
  return rows.reverse().flatMap((row) => {
    const trigger = triggers.find((known) => known === row[2]);
    if (trigger === undefined) return [];
    const [deliveryId, attempt, , acceptTimeMs] = row;
    return {
      deliveryId: String(deliveryId),
      attempt: Number(attempt),
      trigger,
      acceptTimeMs: Number(acceptTimeMs),
    };
  });
}

function namesOf({ deliveryId, attempt, trigger, acceptTimeMs }: LoggedAttempt): LoggedAttempt {
  return { deliveryId, attempt, trigger, acceptTimeMs };
}
