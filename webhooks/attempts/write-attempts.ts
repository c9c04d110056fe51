// The log's writer: takes records of attempts from the broker, a batch at a time, inserts them, and then acknowledges
// them. A crash in between brings the same records again, and the table keeps one row of each. Several processes share
// the work.

import type { ClickHouseClient } from '@clickhouse/client';
import { leastPullMs } from '../../platform/broker/beat.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import { retry, sleep } from '../../platform/retry.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import { decodeAttempt } from './attempt-row.ts';
import { insertAttempts } from './insert-attempts.ts';
import { answerAll, ensureLogConsumer, type PulledRecord, pullRecords } from './pull-records.ts';

export interface AttemptWriter {
  /** False until the broker is ready for pulls, and while inserts fail. */
  ready(): boolean;
  /** Gives back what is not stored yet, which the next writer gets at once. */
  stop(): Promise<void>;
}

interface AttemptWriterOptions {
  connection: NatsConnection;
  clickhouse: Pick<ClickHouseClient, 'exec'>;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

const waits = { baseMs: 100, capMs: 10_000 };
/** A third of the consumer's ack_wait. */
const stillHereMs = 10_000;
/** A pull that brings nothing takes longer, unless the broker has refused it. */
const refusedPullMs = leastPullMs / 2;
const refusedPauseMs = 500;

export function startAttemptWriter(options: AttemptWriterOptions): AttemptWriter {
  const { connection, log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const counts = createCounts(options);
  let [opened, failing] = [false, false];

  const open = (): Promise<void> =>
    retry(() => ensureLogConsumer(connection), {
      ...{ signal, ...waits },
      onFailure: ({ error }) => log.warn({ err: error }, 'the webhook log has no consumer yet'),
    });

  const insert = (records: readonly AttemptRecord[]): Promise<AttemptRecord[]> =>
    retry(() => insertAttempts(options.clickhouse, records), {
      ...{ signal, ...waits },
      onFailure: ({ error, attempt, waitMs }) => {
        failing = true;
        counts.failed();
        const fields = { rows: records.length, attempt, waitMs, err: error };
        log.warn(fields, 'an insert into the webhook log failed and is tried again');
      },
    });

  const store = async (pulled: readonly PulledRecord[]): Promise<void> => {
    const stillHere = setInterval(() => answerAll(connection, pulled, 'waiting'), stillHereMs);
    try {
      const records = pulled.flatMap(({ data }) => decodeAttempt(data) ?? []);
      const refused = await insert(records);
      failing = false;
      answerAll(connection, pulled, 'stored');
      counts.stored(pulled, records, refused);
    } catch (error) {
      answerAll(connection, pulled, 'returned');
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(stillHere);
    }
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted && !connection.isClosed()) {
      try {
        if (!opened) await open();
        opened = true;
        const startedMs = performance.now();
        const pulled = await pullRecords(connection, signal);
        if (pulled.length > 0) await store(pulled);
        else if (performance.now() - startedMs < refusedPullMs) {
          opened = false;
          await sleep(refusedPauseMs, signal);
        }
      } catch (error) {
        if (signal.aborted || connection.isClosed()) return;
        opened = false;
        log.error({ err: error }, 'the webhook log is not written, and tried again');
        await sleep(waits.capMs, signal).catch(() => {});
      }
    }
  };

  const running = run();
  return {
    ready: () => opened && !failing,
    async stop() {
      stopping.abort(new Error('the writer of the webhook log stops'));
      await running;
    },
  };
}

/** Metrics and log lines of what was written. */
function createCounts({ clock, log, metrics }: AttemptWriterOptions) {
  const rows = metrics.counter(
    'millrace_webhook_log_records_total',
    'Records of webhook attempts by what became of them.',
    ['outcome'],
  );
  const failures = metrics.counter(
    'millrace_webhook_log_insert_failures_total',
    'Inserts into the webhook log that failed and were tried again.',
  );
  const lag = metrics.histogram(
    'millrace_webhook_log_lag_seconds',
    "Time from a batch's oldest attempt to its row.",
    [0.5, 1, 2, 3, 5, 10, 30, 60, 300, 3_600],
  );
  const waiting = metrics.gauge(
    'millrace_webhook_log_waiting_records',
    'Records of attempts that waited in the broker at the last pull.',
  );
  return {
    failed: () => failures.inc(),
    stored(
      pulled: readonly PulledRecord[],
      records: readonly AttemptRecord[],
      refused: readonly AttemptRecord[],
    ): void {
      const unreadable = pulled.length - records.length;
      rows.inc({ outcome: 'stored' }, records.length - refused.length);
      rows.inc({ outcome: 'unreadable' }, unreadable);
      rows.inc({ outcome: 'refused' }, refused.length);
      waiting.set(waitingBehind(pulled.at(-1)));
      if (unreadable > 0) log.error({ unreadable }, 'records of attempts cannot be read: left out');
      for (const { attemptId, webhookId } of refused) {
        log.error({ attemptId, webhookId }, 'the engine refuses a record of an attempt: left out');
      }
      const oldestMs = Math.min(...records.map(({ attemptTimeMs }) => attemptTimeMs));
      if (records.length > 0) lag.observe(Math.max(0, clock.nowMs() - oldestMs) / 1_000);
    },
  };
}

/** The last word of a reply subject is how many messages the broker has for the consumer besides. */
function waitingBehind(record: PulledRecord | undefined): number {
  const tokens = record?.replySubject.split('.') ?? [];
  const pending = Number(tokens[tokens.length === 9 ? 8 : 10]);
  return Number.isSafeInteger(pending) ? pending : 0;
}
